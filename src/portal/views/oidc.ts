import { type Html, html } from '#platform/pages/html.ts'
import { confirmPath, startSignInPath } from '../oidc/oidc-paths.ts'
import type { FrameOidc, PageFrame } from './frame.ts'

/** The link that leads to the provider, on the sign-in page. */
export function providerLink({ base }: PageFrame, { label }: FrameOidc, next: string): Html {
  const query = next === '' ? '' : `?next=${encodeURIComponent(next)}`
  return html`<a class="button wide" href="${base}${startSignInPath}${query}">Sign in with ${label}</a>`
}

/** Asks the viewer to authenticate again at the provider; once done, says so. */
export function confirmationPart({ base }: PageFrame, oidc: FrameOidc): Html {
  const { label, isConfirmed, hasPassword, path } = oidc
  if (isConfirmed) return html`<p class="hint">You have just confirmed with ${label}.</p>`
  const reason = hasPassword ? 'Or, instead of the password:' : 'First confirm that it is you:'
  return html`<p class="hint">${reason} <a href="${base}${confirmPath}?next=${encodeURIComponent(path)}">confirm with ${label}</a>.</p>`
}
