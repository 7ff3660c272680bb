import type { Texts } from '../en/en.ts'
import { form } from './form.ts'
import { furtherKeys } from './further-keys.ts'
import { keys } from './keys.ts'
import { layout } from './layout.ts'
import { parts } from './parts.ts'
import { profile } from './profile.ts'
import { script } from './script.ts'
import { signIn } from './sign-in.ts'

export const de: Texts = { form, furtherKeys, keys, layout, parts, profile, script, signIn }
