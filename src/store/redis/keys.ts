import { keysByReplacing, type Replace } from '../account-changes/by-replacing.ts'
import {
  digestText,
  type ImportedKeyStore,
  type KeyImport,
  type KeyStore,
  type KeyUse,
  type RecordedKeyUse,
  type SecretKeyAdded,
} from '../keys.ts'
import type { Connection } from './open-connection.ts'
import { loadScript } from './scripts.ts'

const recordScript = loadScript('record-key-uses')

/** How many uses one script takes: this blocks Redis for a few milliseconds. */
const recordBatchMax = 200

/** How many accounts an import changes at a time: each command must be answered in time. */
const accountsAtOnce = 200

/**
 * Keys are stored with their account; their uses in a hash per account, whose writes do not wait for replicas; and the
 * index of imported keys in a hash of account IDs by digest, written together with the accounts.
 */
export function createKeyStore(
  { keys, ask, run, confirmAbsence }: Connection,
  replace: Replace,
): KeyStore & ImportedKeyStore {
  const verbs = keysByReplacing(replace)

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

  /** In sequence, as two of one account would conflict. */
  async function importAll(imports: readonly KeyImport[], outcomes: Map<KeyImport, SecretKeyAdded>) {
    for (const imported of imports)
      outcomes.set(imported, await verbs.addSecretKey(imported.accountId, imported))
  }

  return {
    ...verbs,
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
    importSecretKeys: async (imports) => {
      await confirmAbsence()
      const outcomes = new Map<KeyImport, SecretKeyAdded>()
      // In order, so that the first of two accounts with the same key gets it.
      const waiting = Map.groupBy(imports, ({ accountId }) => accountId).values()
      const lanes = Array.from({ length: accountsAtOnce }, async () => {
        for (const some of waiting) await importAll(some, outcomes)
      })
      await Promise.all(lanes)
      return imports.map((imported) => outcomes.get(imported) ?? 'unknown')
    },
    findImportedKey: async (digest) => {
      const id = await ask((client) => client.hget(keys.importedKeys, digestText({ digest })))
      return id ?? confirmAbsence()
    },
    hasImportedKeys: async () => {
      const hasAny = (await ask((client) => client.exists(keys.importedKeys))) > 0
      if (!hasAny) await confirmAbsence()
      return hasAny
    },
  }
}

function parseKeyUse(text: string): KeyUse {
  const [at, scheme, address = ''] = text.split(' ')
  return { at: Number(at), address, scheme: scheme === 'accessToken' ? 'accessToken' : 'secretKey' }
}
