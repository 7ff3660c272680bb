import type { KeyUse, NotedKeyUse } from '../key-use.ts'
import type { PortalStore } from '../portal-store.ts'
import type { Connection } from './connection.ts'
import { loadScript } from './scripts.ts'

const noteScript = loadScript('note-key-uses')

/** How many uses one script takes: this blocks Redis for a few milliseconds. */
const notedAtOnce = 200

/** The uses of an account's keys, in one hash. These writes do not wait for replicas. */
export function openKeyUses({
  keys,
  ask,
  run,
  confirmAbsence,
}: Connection): Pick<PortalStore, 'noteKeyUses' | 'findKeyUses'> {
  async function note(uses: readonly NotedKeyUse[]): Promise<void> {
    await run(
      noteScript,
      uses.flatMap(({ accountId }) => [keys.account(accountId), keys.keyUsesOf(accountId)]),
      uses.flatMap(({ digest, at, scheme, address }) => [digest, at, `${at} ${scheme} ${address}`]),
    )
  }

  return {
    noteKeyUses: async (uses) => {
      await confirmAbsence()
      for (let start = 0; start < uses.length; start += notedAtOnce) {
        await note(uses.slice(start, start + notedAtOnce))
      }
    },
    findKeyUses: async (accountId) => {
      const fields = await ask((client) => client.hgetall(keys.keyUsesOf(accountId)))
      if (Object.keys(fields).length === 0) await confirmAbsence()
      return new Map(Object.entries(fields).map(([digest, text]) => [digest, parse(text)]))
    },
  }
}

function parse(text: string): KeyUse {
  const [at, scheme, address = ''] = text.split(' ')
  return { at: Number(at), address, scheme: scheme === 'accessToken' ? 'accessToken' : 'secretKey' }
}
