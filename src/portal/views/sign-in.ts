import { emailLengthMax } from '#accounts/account-input.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { field, form, formMessage } from './form.ts'
import type { FormState, PageFrame } from './frame.ts'
import { providerLink } from './oidc.ts'
import { page, signedOutPage } from './page.ts'

/** The sign-in page, with a link to set a password. */
export function signInPage(frame: PageFrame, state: FormState & { readonly next: string }): Html {
  const { oidc } = frame
  const provider = oidc && providerLink(frame, oidc, state.next)
  if (oidc?.acceptsPasswords === false) {
    const body = html`<div class="card"><div class="body">${formMessage(state)}${provider}</div></div>`
    return signedOutPage(frame, { title: 'Sign in', lead: 'Manage your keys and sessions.', body })
  }
  const body = html`<div class="card"><div class="body">${provider}${formMessage(state)}${form(frame, {
    action: '/sign-in',
    body: html`<input type="hidden" name="next" value="${state.next}">
${field(state, {
  name: 'email',
  label: 'E-mail',
  type: 'email',
  autocomplete: 'username',
  hasFocus: (state.values.email ?? '') === '',
  lengthMax: emailLengthMax,
})}
${field(state, {
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
  hasFocus: (state.values.email ?? '') !== '',
})}
<button class="primary wide">Sign in</button>`,
  })}</div></div>
<p class="after"><a href="${frame.base}/forgot">Forgot your password?</a> First time here? <a href="${frame.base}/setup">Use your set-up link</a>.</p>`
  return signedOutPage(frame, { title: 'Sign in', lead: 'Manage your keys and sessions.', body })
}

export interface RecoveryLink {
  readonly href: string
  readonly text: string
}

/** An error that has no form to be shown at; with the usual navigation for a signed-in viewer. */
export function errorPage(
  frame: PageFrame,
  {
    title,
    detail,
    requestId,
    recoveryLink,
  }: {
    readonly title: string
    readonly detail: string | undefined
    readonly requestId: string
    /** undefined = the start of the portal. */
    readonly recoveryLink?: RecoveryLink | undefined
  },
): Html {
  const link = recoveryLink
    ? html`<a class="button" href="${recoveryLink.href}">${recoveryLink.text}</a>`
    : html`<a href="${frame.base}">Back to the portal</a>`
  const body = html`<div class="card"><div class="body"><p>${link}</p>
<p class="hint">Request ID <code>${requestId}</code></p></div></div>`
  const layout = frame.viewer ? page : signedOutPage
  return layout(frame, { title, ...(detail !== undefined && { lead: detail }), body })
}
