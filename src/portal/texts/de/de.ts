import type { Texts } from '../en/en.ts'
import { errors } from './errors.ts'
import { form } from './form.ts'
import { layout } from './layout.ts'
import { parts } from './parts.ts'
import { profile } from './profile.ts'
import { script } from './script.ts'
import { signIn } from './sign-in.ts'

export const de: Texts = { errors, form, layout, parts, profile, script, signIn }
