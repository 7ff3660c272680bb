import type { Texts } from '../en/en.ts'
import { accountImport } from './account-import.ts'
import { accountList } from './account-list.ts'
import { accountPage } from './account-page.ts'
import { accounts } from './accounts.ts'
import { api } from './api.ts'
import { audit } from './audit.ts'
import { errors } from './errors.ts'
import { events } from './events.ts'
import { furtherKeys } from './further-keys.ts'
import { integration, keys } from './integration.ts'
import { form, layout, parts, script } from './layout.ts'
import { links } from './links.ts'
import { notices } from './notices.ts'
import { passkeys } from './passkeys.ts'
import { profile } from './profile.ts'
import { secondFactor } from './second-factor.ts'
import { sessions } from './sessions.ts'
import { severalAccounts } from './several-accounts.ts'
import { signIn } from './sign-in.ts'
import { subjects } from './subjects.ts'
import { tryIt } from './try-it.ts'
import { usage } from './usage.ts'

export const de: Texts = {
  accountPage,
  accountImport,
  accountList,
  accounts,
  api,
  audit,
  errors,
  events,
  form,
  furtherKeys,
  integration,
  keys,
  layout,
  links,
  notices,
  parts,
  passkeys,
  profile,
  script,
  secondFactor,
  sessions,
  severalAccounts,
  signIn,
  subjects,
  tryIt,
  usage,
}
