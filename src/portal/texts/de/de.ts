import type { Texts } from '../en/en.ts'
import { errors } from './errors.ts'
import { form } from './form.ts'
import { layout } from './layout.ts'
import { links } from './links.ts'
import { parts } from './parts.ts'
import { passkeys } from './passkeys.ts'
import { profile } from './profile.ts'
import { script } from './script.ts'
import { secondFactor } from './second-factor.ts'
import { sessions } from './sessions.ts'
import { signIn } from './sign-in.ts'

export const de: Texts = {
  errors,
  form,
  layout,
  links,
  parts,
  passkeys,
  profile,
  script,
  secondFactor,
  sessions,
  signIn,
}
