import { existsSync } from 'node:fs'
import type { Config } from '#config/config.ts'
import { createSealingKeys, type SealingKeys } from '#platform/secrets/sealing-key.ts'
import type { Store } from '#store/store.ts'

type NewStoreReader = Pick<Store, 'listSigningKeys' | 'listAccounts'>

/**
 * Reads the sealing keys of a store. On SQLite their file is created for a new one: what a lost key has sealed or
 * hashed could be read with no other.
 * @throws OperatorError as `createSealingKeys`
 */
export async function loadSealingKeys(
  { store: { driver }, keys }: Pick<Config, 'store' | 'keys'>,
  store: NewStoreReader,
): Promise<SealingKeys> {
  const source = keys.sealingKey
  const isMissing = source.kind === 'file' && !existsSync(source.file)
  const mayCreate = driver === 'sqlite' && isMissing && (await isNew(store))
  return createSealingKeys(source, { mayCreate })
}

async function isNew(store: NewStoreReader): Promise<boolean> {
  const signingKeys = await store.listSigningKeys()
  const accounts = await store.listAccounts({ after: undefined, limit: 1 })
  return signingKeys.length === 0 && accounts.length === 0
}
