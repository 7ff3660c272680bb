import type { Report } from './figures.ts'
import type { InstanceGroup, Scope } from './instance-group.ts'
import { type Revocable, revokeUnderLoad } from './revoke-under-load.ts'

const revocations = 500
/** Several keys of each account are revoked, and its default key is not. */
const keysEach = 5
const accounts = revocations / keysEach

/** Single keys are revoked under load; the keys that must pass are of the very accounts whose others are revoked. */
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
  return operate(async ({ secretKeys }) => {
    const made: Revocable[] = []
    for (const accountId of ids) {
      for (let count = 0; count < keysEach; count++) {
        const name = `key-${count}`
        const input = { name, scopes: [], addresses: [], expiresAt: undefined }
        const secretKey = await secretKeys.create(accountId, input)
        made.push({ secretKey, revoke: (operator) => operator.secretKeys.revoke(accountId, name, 0) })
      }
    }
    return made
  })
}
