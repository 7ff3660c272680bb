import { keysByReplacing, type Replace } from '../account-changes/by-replacing.ts'
import type { KeyStore, KeyUse, RecordedKeyUse } from '../keys.ts'
import type { Connection } from './open-connection.ts'
import { loadScript } from './scripts.ts'

const recordScript = loadScript('record-key-uses')

/** How many uses one script takes: this blocks Redis for a few milliseconds. */
const recordBatchMax = 200

/** Keys are stored with their account; their uses in a hash per account, whose writes do not wait for replicas. */
export function createKeyStore({ keys, ask, run, confirmAbsence }: Connection, replace: Replace): KeyStore {
  async function recordBatch(uses: readonly RecordedKeyUse[]): Promise<void> {
    await run(
      recordScript,
      [
        keys.activeDays,
        ...uses.flatMap(({ accountId }) => [keys.account(accountId), keys.keyUsesOf(accountId)]),
      ],
      uses.flatMap(({ accountId, digest, at, scheme, address }) => [
        digest,
        at,
        `${at} ${scheme} ${address}`,
        accountId,
      ]),
    )
  }

  return {
    ...keysByReplacing(replace),
    recordKeyUses: async (uses) => {
      await confirmAbsence()
      for (let start = 0; start < uses.length; start += recordBatchMax) {
        await recordBatch(uses.slice(start, start + recordBatchMax))
      }
    },
    findKeyUses: async (accountId) => {
      const fields = await ask((client) => client.hgetall(keys.keyUsesOf(accountId)))
      if (Object.keys(fields).length === 0) await confirmAbsence()
      return new Map(Object.entries(fields).map(([digest, text]) => [digest, parseKeyUse(text)]))
    },
  }
}

function parseKeyUse(text: string): KeyUse {
  const [at, scheme, address = ''] = text.split(' ')
  return { at: Number(at), address, scheme: scheme === 'accessToken' ? 'accessToken' : 'secretKey' }
}
