import type { CreatedAccount } from '#accounts/accounts.ts'
import type { Scope } from '../scope.ts'
import type { Report } from './figures.ts'
import { type Revocable, revokeUnderLoad } from './revoke-under-load.ts'

const resets = 500
const bystanders = 50

/** A reset secret key is refused everywhere: at once if the message arrives, soon if it does not. */
export async function revocation(scope: Scope, report: Report): Promise<void> {
  await revokeUnderLoad(scope, report, async (group) => {
    const created = await group.createAccounts(2 * resets + bystanders)
    return {
      kept: created.slice(0, bystanders).map(({ secretKey }) => secretKey),
      first: created.slice(bystanders, bystanders + resets).map(defaultKeyOf),
      second: created.slice(bystanders + resets).map(defaultKeyOf),
    }
  })
}

function defaultKeyOf({ account, secretKey }: CreatedAccount): Revocable {
  return { secretKey, revoke: ({ defaultKeys }) => defaultKeys.resetSecretKey(account.id, 0) }
}
