import { randomUUID } from 'node:crypto'
import type { SecretKeyInput } from '#accounts/keys/input.ts'
import { createKeyId } from '#accounts/keys/make-key.ts'
import { digestOf } from '#platform/secrets/keys.ts'
import type { Store } from '#store/store.ts'
import type { Scope } from '../scope.ts'
import type { Report } from './figures.ts'
import type { InstanceGroup } from './instance-group.ts'
import { type Revocable, revokeUnderLoad } from './revoke-under-load.ts'

const revocations = 500
/** Several keys of each account are revoked, and its default key is not. */
const keysEach = 5
const accounts = revocations / keysEach

/**
 * Single keys are revoked under load, every second one imported; the keys that must pass are of the very accounts whose others
 * are revoked.
 */
export async function keys(scope: Scope, report: Report): Promise<void> {
  await revokeUnderLoad(scope, report, async (group) => {
    const created = await group.createAccounts(2 * accounts)
    const ids = created.map(({ account }) => account.id)
    return {
      kept: created.map(({ secretKey }) => secretKey),
      first: await createKeys(group, ids.slice(0, accounts)),
      second: await createKeys(group, ids.slice(accounts)),
    }
  })
}

async function createKeys({ operate }: InstanceGroup, ids: readonly string[]): Promise<Revocable[]> {
  return operate(async ({ secretKeys, store }) => {
    const made: Revocable[] = []
    for (const accountId of ids) {
      for (let count = 0; count < keysEach; count++) {
        const name = `key-${count}`
        const input = { name, scopes: [], addresses: [], expiresAt: undefined }
        const isOurs = count % 2 === 0
        const secretKey = isOurs
          ? await secretKeys.create(accountId, input)
          : await importKey(store, accountId, input)
        made.push({ secretKey, revoke: (operator) => operator.secretKeys.revoke(accountId, name, 0) })
      }
    }
    return made
  })
}

/** @returns a key that was made elsewhere */
async function importKey(
  store: Pick<Store, 'importSecretKeys'>,
  accountId: string,
  input: SecretKeyInput,
): Promise<string> {
  const key = `made-elsewhere-${randomUUID()}`
  const made = { id: createKeyId(), digest: digestOf(key), createdAt: Date.now(), isImported: true } as const
  const secretKey = { ...input, ...made, quota: undefined, sealed: undefined, revokedAt: undefined }
  const [outcome] = await store.importSecretKeys([{ accountId, secretKey, keysMax: 20 }])
  if (outcome !== 'added') throw new Error(`a key was not imported: ${outcome}`)
  return key
}
