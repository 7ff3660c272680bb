import type { Account } from '../accounts.ts'
import {
  retentionAfterEndMs,
  type SessionPosition,
  type SessionStore,
  type SessionsPage,
} from '../sessions.ts'
import type { Connection } from './open-connection.ts'
import { loadScript } from './scripts.ts'

const listScript = loadScript('list-sessions')
const indexScript = loadScript('index-sessions')
const forgetScript = loadScript('forget-sessions')

/** How many sessions one step reads, or removes: this blocks Redis for a millisecond or two. */
const sessionBatchMax = 200

/** Reads the sessions at these positions, and leaves out those that have ended. */
export type PositionReader<Item> = (positions: readonly SessionPosition[]) => Promise<readonly Item[]>

type Owner = Pick<Account, 'id' | 'sessionEpoch'>

/**
 * The index of an account's sessions that have not ended, newest first: one index per session epoch, so that all of
 * them end in one small step. Accounts of an earlier format get it when it is first needed.
 */
export function createOpenSessionIndex({ keys, ask, run }: Connection, find: SessionStore['findSession']) {
  const indexOf = ({ id, sessionEpoch }: Owner) => keys.openSessionsOf(id, sessionEpoch)

  /** What `read` makes of a page in order; shorter where there are no more. */
  async function list<Item>(
    account: Owner,
    { now, after, limit }: SessionsPage,
    read: PositionReader<Item>,
  ): Promise<readonly Item[]> {
    const scriptKeys = [indexOf(account), keys.sessionsOf(account.id)]
    const listed: Item[] = []
    let cursor = { id: after?.id ?? '', createdAt: after?.createdAt ?? 0 }
    let isBuilt = false
    for (;;) {
      const asked = Math.min(sessionBatchMax, limit - listed.length)
      // The cast is sound: the script returns nothing else.
      const reply = (await run(listScript, scriptKeys, [
        cursor.id,
        -cursor.createdAt,
        asked,
        now,
      ])) as string[]
      if (reply[0] === '1' && !isBuilt) {
        await build(account)
        isBuilt = true
        continue
      }
      const entries = entriesOf(reply)
      listed.push(...(await read(entries.filter(({ isAlive }) => isAlive))))
      const last = entries.at(-1)
      if (entries.length < asked || listed.length >= limit || !last) return listed
      cursor = last
    }
  }

  /** Adds the sessions that were started before the index existed. */
  async function build(account: Owner): Promise<void> {
    const index = indexOf(account)
    for (let start = 0; ; start += sessionBatchMax) {
      const all = keys.sessionsOf(account.id)
      const ids = await ask((client) =>
        client.zrange(all, String(start), String(start + sessionBatchMax - 1)),
      )
      const open = (await Promise.all(ids.map(find)))
        .filter((session) => session !== undefined)
        .filter(({ end, sessionEpoch }) => end === undefined && sessionEpoch === account.sessionEpoch)
      const entries = open.flatMap(({ createdAt, id }) => [-createdAt, id])
      const keptUntil = Math.max(0, ...open.map(({ expiresAt }) => expiresAt)) + retentionAfterEndMs
      if (entries.length > 0) await run(indexScript, [index], [keptUntil, ...entries])
      if (ids.length < sessionBatchMax) return
    }
  }

  return {
    list,
    build,
    /** IDs of the oldest, oldest first. */
    oldest: (account: Owner, count: number): Promise<readonly string[]> =>
      ask((client) => client.zrevrange(indexOf(account), '0', String(Math.min(count, sessionBatchMax) - 1))),
  }
}

/** Removes all sessions of a deleted account. */
export async function forgetSessions({ keys, ask, run }: Connection, accountId: string): Promise<void> {
  const all = keys.sessionsOf(accountId)
  for (;;) {
    const ids = await ask((client) => client.zrange(all, '0', String(sessionBatchMax - 1)))
    if (ids.length === 0) return
    await run(forgetScript, [all, ...ids.map(keys.session)], ids)
  }
}

function entriesOf([, ...words]: readonly string[]) {
  return Array.from({ length: words.length / 3 }, (_, index) => ({
    id: words[3 * index] ?? '',
    createdAt: -Number(words[3 * index + 1]),
    isAlive: words[3 * index + 2] === '1',
  }))
}
