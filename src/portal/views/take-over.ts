import { type Html, html } from '#platform/pages/html.ts'
import { confirmPath, takeOverPath } from '../oidc/oidc-paths.ts'
import { form } from './form.ts'
import type { FrameOidc, PageFrame } from './frame.ts'
import { signedOutPage } from './page.ts'

/**
 * Asks somebody whom the provider knows what becomes of the account with the same e-mail, which was used without the
 * provider.
 */
export function takeOverPage(
  frame: PageFrame,
  { label, acceptsPasswords }: Pick<FrameOidc, 'label' | 'acceptsPasswords'>,
  email: string,
): Html {
  const next = encodeURIComponent(confirmPath)
  const keep =
    acceptsPasswords &&
    html`<p><strong>It is yours, and you know its password:</strong> <a href="${frame.base}/sign-in?next=${next}">sign in with it once</a>, then confirm with ${label}. Everything stays as it is.</p>`
  const body = html`<div class="card"><div class="body"><p>The account <strong>${email}</strong> has been used without ${label} before: by you, or by somebody who entered your address.</p>
${keep}
<p><strong>${acceptsPasswords ? 'Otherwise take it over:' : 'Take it over:'}</strong> its password, two-factor sign-in, sessions and all keys end. Programs with its keys stop working until they get new ones, which you find in the portal.</p>
${form(frame, {
  action: takeOverPath,
  body: html`<button class="danger wide">Take over the account</button>`,
})}</div></div>
<p class="after"><a href="${frame.base}/sign-in">Back to the sign-in</a></p>`
  return signedOutPage(frame, { title: 'Is this your account?', body })
}
