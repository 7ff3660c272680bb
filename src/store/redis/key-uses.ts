import type { KeyUse, NotedKeyUse } from '../key-use.ts'
import type { PortalStore } from '../portal-store.ts'
import type { Connection } from './connection.ts'
import { loadScript } from './scripts.ts'

const noteScript = loadScript('note-key-uses')

/** How many uses one script takes: a few milliseconds, in which Redis serves nobody else. */
const notedAtOnce = 200

/** Uses of the keys of an account in one hash. Replicas need not have them before they count as done. */
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
