import type { Texts } from '../en/en.ts'
import * as accounts from './accounts.ts'
import * as administration from './administration.ts'
import * as integration from './integration.ts'
import * as keys from './keys.ts'
import * as layout from './layout.ts'
import * as ownAccount from './own-account.ts'
import * as signIn from './sign-in.ts'

export const de: Texts = {
  ...accounts,
  ...administration,
  ...integration,
  ...keys,
  ...layout,
  ...ownAccount,
  ...signIn,
}
