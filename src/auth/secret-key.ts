import { type ParsedKey, parseKey } from '../accounts/keys.ts'
import { isSecretKeyOf } from '../accounts/match-key.ts'
import type { Directory, KnownAccount } from './principal.ts'
import { type Authentication, rejected, type Scheme } from './scheme.ts'

const invalid = rejected('secret-key-invalid')
const malformed = rejected('secret-key-invalid', { isMalformed: true })
const disabled = rejected('account-disabled')

/** `SecretKey: gsk_…`: valid until it is reset, and then for as long as the reset gave it. */
export function createSecretKeyScheme(directory: Directory, clock: () => number): Scheme {
  function judge({ digest }: ParsedKey, account: KnownAccount | undefined): Authentication {
    if (!account || !isSecretKeyOf(account, digest, clock())) return invalid
    return account.isDisabled ? disabled : { kind: 'authenticated', principal: account.principal }
  }

  return {
    name: 'secretKey',
    authenticate: (credential) => {
      const key = parseKey('secretKey', credential)
      if (!key) return malformed
      const account = directory.account(key.accountId)
      return account instanceof Promise ? account.then((found) => judge(key, found)) : judge(key, account)
    },
  }
}
