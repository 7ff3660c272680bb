import { form } from './form.ts'
import { furtherKeys } from './further-keys.ts'
import { keys } from './keys.ts'
import { layout } from './layout.ts'
import { parts } from './parts.ts'
import { profile } from './profile.ts'
import { script } from './script.ts'
import { signIn } from './sign-in.ts'

export const en = { form, furtherKeys, keys, layout, parts, profile, script, signIn }

/** Every text of the portal, by the pages that show it. Every language has what English has. */
export type Texts = typeof en
