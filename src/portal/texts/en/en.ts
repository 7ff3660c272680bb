import * as accounts from './accounts.ts'
import * as administration from './administration.ts'
import * as integration from './integration.ts'
import * as keys from './keys.ts'
import * as layout from './layout.ts'
import * as ownAccount from './own-account.ts'
import * as signIn from './sign-in.ts'

/** Each file exports the texts of its pages, and nothing else. */
export const en = {
  ...accounts,
  ...administration,
  ...integration,
  ...keys,
  ...layout,
  ...ownAccount,
  ...signIn,
}

/** Every text of the portal, by the pages that show it. Every language has what English has. */
export type Texts = typeof en
