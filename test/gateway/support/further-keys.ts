import { makeSecretKey } from '#accounts/keys/make-key.ts'
import { digestOf } from '#platform/secrets/keys.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import type { SecretKey } from '#store/secret-keys.ts'
import type { TestGateway } from '../../setup/gateway.ts'
import { newSecretKey } from '../../store/samples.ts'

/** Adds a secret key to an account, and returns it. */
export async function addKey(
  gateway: TestGateway,
  accountId: string,
  { name, scopes = [], ...limits }: Pick<SecretKey, 'name'> & Partial<SecretKey>,
): Promise<string> {
  const sealer = createSealer(Buffer.alloc(32, 7))
  const options = { sealer, reveal: false, prefix: 'gate', clock: Date.now }
  const input = { name, scopes, addresses: [], expiresAt: undefined }
  const { key, stored } = makeSecretKey(accountId, input, options)
  const secretKey = { ...stored, ...limits }
  const added = await gateway.operate(({ store }) =>
    store.addSecretKey(accountId, { secretKey, keysMax: 20 }),
  )
  if (added !== 'added') throw new Error(`the key "${name}" was not added: ${added}`)
  return key
}

/** Imports a key that was made elsewhere. */
export async function importKey(
  gateway: TestGateway,
  accountId: string,
  key: string,
  { name = 'elsewhere', ...limits }: Partial<SecretKey> = {},
): Promise<void> {
  const secretKey = { ...newSecretKey({ name, digest: digestOf(key), ...limits }), isImported: true } as const
  const [outcome] = await gateway.operate(({ store }) =>
    store.importSecretKeys([{ accountId, secretKey, keysMax: 20 }]),
  )
  if (outcome !== 'added') throw new Error(`the key "${name}" was not imported: ${outcome}`)
}
