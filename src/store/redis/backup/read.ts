import { dayOf, firstOfMonth, formatDay, parseDay, startOfDay } from '#platform/time.ts'
import type { Account } from '../../accounts.ts'
import type { AuditChain } from '../../audit.ts'
import {
  accountRecord,
  type BackupRecord,
  type BackupStore,
  type RecordOf,
  signingKeyRecord,
} from '../../backup/records.ts'
import type { ChangeStore } from '../../changes.ts'
import { heldRecord, keyQuotaSubject, quotaKeptMs } from '../../quotas.ts'
import type { Store } from '../../store.ts'
import { storeUnavailable } from '../../store-health.ts'
import type { BlockedSubject } from '../../subjects.ts'
import { usageDaysKept } from '../../usage.ts'
import type { Connection, TimedMember } from '../open-connection.ts'
import { parsePortalSession } from '../portal.ts'
import { pairsOf } from '../scripts.ts'
import { monthsIn, usageKeysOf } from '../usage.ts'
import { readAudit } from './read-audit.ts'

/** How many accounts, or members of a set, are read at once. */
const pageSize = 200
/** How often accounts are read again until no more have changed. */
const roundsMax = 1_000

type Batches<Item = BackupRecord> = AsyncGenerator<readonly Item[]>

/** @param openLog a reader of the change log of its own */
export function createBackUp(
  connection: Connection,
  store: Omit<Store, keyof BackupStore>,
  openLog: () => Pick<ChangeStore, 'readChanges'>,
): BackupStore['backUp'] {
  const { keys, ask, listByTime } = connection

  return async function* backUp() {
    const log = openLog()
    const { head } = await log.readChanges(undefined)
    const id = await ask((client) => client.get(keys.storeId))
    yield [{ kind: 'store', id: id ?? '', head }]
    const follower = followAccounts(log, head)
    try {
      yield* readAccounts()
      yield* readPrincipals()
      const chains = yield* readChanged(follower)
      yield* readAudit(store, chains)
    } finally {
      follower.close()
    }
    const signingKeys = await store.listSigningKeys()
    yield signingKeys.map(signingKeyRecord)
    yield* readBlocked()
  }

  async function* readAccounts(): Batches {
    for (let after: TimedMember | undefined; ; ) {
      const listed = await listByTime(keys.ids, { after, limit: pageSize })
      const found = await Promise.all(listed.map(({ member }) => store.findAccount(member)))
      const accounts = found.filter((account) => account !== undefined)
      yield accounts.map(accountRecord)
      yield (await Promise.all(accounts.map(readActivity))).flat()
      const counts = await Promise.all(accounts.map(({ id }) => countBelongings(id)))
      for (const { id } of accounts.filter((_, index) => counts[index] !== 0)) yield* readBelongings(id)
      yield (await Promise.all(accounts.flatMap(quotaSubjectsOf).map(readQuotas))).flat()
      if (listed.length < pageSize) return
      after = listed.at(-1)
    }
  }

  async function readActivity({ id }: Account): Promise<readonly RecordOf<'activity'>[]> {
    const day = await ask((client) => client.zscore(keys.activeDays, id))
    return day === null ? [] : [{ kind: 'activity', accountId: id, day: Number(day) }]
  }

  /** Most accounts have none of this, which one command shows. */
  function countBelongings(id: string): Promise<number> {
    const owned = [keys.sessionsOf(id), keys.portalSessionsOf(id), keys.keyUsesOf(id)]
    return ask((client) => client.exists(...owned, ...usageKeysOf(keys, id, Date.now())))
  }

  async function* readBelongings(accountId: string): Batches {
    yield* readSessions(accountId)
    const texts = await ask((client) => client.hvals(keys.portalSessionsOf(accountId)))
    yield texts.map((text) => ({ kind: 'portalSession', ...parsePortalSession(text) }))
    const uses = await store.findKeyUses(accountId)
    yield [...uses].map(([digest, use]) => ({ kind: 'keyUse', accountId, digest, ...use }))
    yield* readUsage(accountId)
  }

  async function* readSessions(accountId: string): Batches<RecordOf<'session'>> {
    for await (const listed of membersOf(keys.sessionsOf(accountId))) {
      const sessions = await Promise.all(listed.map(({ member }) => store.findSession(member)))
      yield sessions.flatMap((session, index) => {
        if (!session) return []
        const { acknowledgedAt = null, end = null, ...rest } = session
        const livesUntil = listed[index]?.at ?? 0
        return [{ kind: 'session', ...rest, acknowledgedAt, end, livesUntil }]
      })
    }
  }

  /**
   * Each member of a sorted set once, if it is there all the time; by rank some would be missed while scores change.
   */
  async function* membersOf(key: string): AsyncGenerator<readonly TimedMember[]> {
    const seen = new Set<string>()
    let cursor = '0'
    do {
      const [next, words] = await ask((client) => client.zscan(key, cursor, 'COUNT', pageSize))
      const found = new Map(
        pairsOf(words)
          .filter(([member]) => !seen.has(member))
          .map(([member, at]) => [member, Number(at)] as const),
      )
      for (const member of found.keys()) seen.add(member)
      yield [...found].map(([member, at]) => ({ member, at }))
      cursor = next
    } while (cursor !== '0')
  }

  /** Month by month, as an account with many keys and routes has more than fits into memory. */
  async function* readUsage(accountId: string): Batches<RecordOf<'usage'>> {
    const today = dayOf(Date.now())
    for (const from of monthsIn({ from: today - usageDaysKept, to: firstOfMonth(today, 1) })) {
      const counts = await store.readUsage(accountId, { from, to: firstOfMonth(from, 1) - 1 })
      yield counts.map((count) => ({ kind: 'usage', accountId, ...count }))
    }
  }

  /** In all windows that are kept now, on the clock of any instance. */
  async function readQuotas(subject: string): Promise<readonly RecordOf<'quota'>[]> {
    const today = dayOf(Date.now())
    const days = [today - 1, today, today + 1].map(formatDay)
    const months = [-1, 0, 1].map((later) => formatDay(firstOfMonth(today, later)).slice(0, 7))
    const found = [...days, ...months].map(async (window): Promise<RecordOf<'quota'>[]> => {
      const { granted, holders } = await store.readQuota(subject, window)
      if (granted === 0 && holders.size === 0) return []
      const keptUntil = endOf(window) + quotaKeptMs
      return [{ kind: 'quota', accountId: subject, window, keptUntil, granted, held: heldRecord(holders) }]
    })
    return (await Promise.all(found)).flat()
  }

  async function* readPrincipals(): Batches {
    for await (const listed of membersOf(keys.usagePrincipals)) {
      yield listed.map(({ member, at }) => ({ kind: 'usagePrincipal', id: member, day: at }))
      for (const { member } of listed) yield* readUsage(member)
      yield (await Promise.all(listed.map(({ member }) => readQuotas(member)))).flat()
    }
  }

  /**
   * Reads accounts that have changed again, until none has changed during that: everything that was read is then as of
   * that moment.
   * @returns the ends of the audit log at that moment
   */
  async function* readChanged(
    follower: ReturnType<typeof followAccounts>,
  ): AsyncGenerator<readonly BackupRecord[], readonly AuditChain[]> {
    await follower.catchUp()
    let ids = follower.take()
    for (let round = 1; ; round++) {
      for (let start = 0; start < ids.length; start += pageSize)
        yield await Promise.all(ids.slice(start, start + pageSize).map(readAgain))
      const chains = await store.readAuditChains()
      await follower.catchUp()
      ids = follower.take()
      if (ids.length === 0) return chains
      if (round === roundsMax) throw new Error('accounts change faster than they can be read')
    }
  }

  async function readAgain(id: string): Promise<RecordOf<'changed'> | RecordOf<'gone'>> {
    const account = await store.findAccount(id)
    return account ? { ...accountRecord(account), kind: 'changed' } : { kind: 'gone', id }
  }

  async function* readBlocked(): Batches<RecordOf<'blockedSubject'>> {
    for (let after: BlockedSubject | undefined; ; ) {
      const found = await store.listBlockedSubjects({ after, limit: pageSize })
      yield found.map((blocked) => ({ kind: 'blockedSubject', ...blocked }))
      if (found.length < pageSize) return
      after = found.at(-1)
    }
  }
}

/** Subjects of the quotas of an account: of its plan, and of its keys. */
function quotaSubjectsOf({ id, plan, secretKeys }: Account): readonly string[] {
  const ofKeys = secretKeys.flatMap(({ quota }) => (quota ? [keyQuotaSubject(id, quota)] : []))
  return [...new Set([...(plan === undefined ? [] : [id]), ...ofKeys])]
}

/** The end of a day (`2026-11-23`) or a month (`2026-11`) of UTC. */
function endOf(window: string): number {
  const day = parseDay(window)
  return startOfDay(day === undefined ? firstOfMonth(parseDay(`${window}-01`) ?? 0, 1) : day + 1)
}

/**
 * Often enough that the log, which keeps the last 2,000 changes, is not cut in between, even if nobody consumes the
 * backup.
 */
const intervalMs = 250

/** Notes which accounts are changed while others are read. @param head position that was read before */
export function followAccounts(log: Pick<ChangeStore, 'readChanges'>, head: number) {
  let position = head
  let ids = new Set<string>()
  let failure: unknown
  let reading = Promise.resolve()
  const timer = setInterval(() => void catchUp().catch(() => {}), intervalMs)

  async function readOn(): Promise<void> {
    const { head, changes } = await log.readChanges(position)
    if (!changes) throw storeUnavailable('lost', lostMessage)
    position = head
    for (const { change } of changes) if (change.kind === 'account') ids.add(change.accountId)
  }

  /**
   * Reads the change log to its end.
   * @throws GatehouseError `store-unavailable` where changes are not known
   */
  function catchUp(): Promise<void> {
    reading = reading.then(async () => {
      if (failure !== undefined) throw failure
      await readOn()
    })
    reading.catch((error: unknown) => {
      failure = error
    })
    return reading
  }

  return {
    catchUp,
    /** The accounts that have changed since the last call, as far as `catchUp` knows. */
    take: () => {
      const taken = [...ids]
      ids = new Set()
      return taken
    },
    close: () => clearInterval(timer),
  }
}

const lostMessage = 'changes were lost since the backup began (a failover, or too many at once): begin again'
