import { emailLengthMax } from '#accounts/account-input.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { confirmPath, startSignInPath, takeOverPath } from '../page-access.ts'
import { field, form, formMessage } from './form.ts'
import {
  emptyForm,
  type FormState,
  type FrameOidc,
  type FramePasskeys,
  type FrameProvider,
  type PageFrame,
  providerQuery,
} from './frame.ts'
import { page, signedOutPage } from './layout.ts'
import { passkeyForm } from './passkey-forms.ts'

/** The sign-in page, with a link to set a password. */
export function signInPage(frame: PageFrame, state: FormState & { readonly next: string }): Html {
  const { oidc } = frame
  const links = oidc && providerLinks(frame, oidc, state.next)
  if (oidc?.acceptsPasswords === false) {
    const body = html`<div class="card"><div class="body">${formMessage(state)}${links}</div></div>`
    return signedOutPage(frame, { title: 'Sign in', lead: 'Manage your keys and sessions.', body })
  }
  const body = html`<div class="card"><div class="body">${links}${formMessage(state)}${form(frame, {
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
  })}${frame.passkeys && passkeyPart(frame, frame.passkeys, state)}</div></div>
<p class="after"><a href="${frame.base}/forgot">Forgot your password?</a> First time here? <a href="${frame.base}/setup">Use your set-up link</a>.</p>`
  return signedOutPage(frame, { title: 'Sign in', lead: 'Manage your keys and sessions.', body })
}

function passkeyPart(
  frame: PageFrame,
  passkeys: FramePasskeys,
  { errors, next }: FormState & { readonly next: string },
): Html {
  return passkeyForm(frame, passkeys, {
    action: '/sign-in/passkey',
    options: '/sign-in/passkey/options',
    state: { ...emptyForm, errors },
    body: html`<input type="hidden" name="next" value="${next}">`,
    text: 'Sign in with a passkey',
    look: 'wide',
  })
}

export interface RecoveryLink {
  readonly href: string
  readonly text: string
}

/** An error that cannot be shown in a form; with the usual navigation for a signed-in viewer. */
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

/**
 * Asks a person whom the provider has authenticated what to do with the account with the same e-mail, which was used
 * without the provider.
 */
export function takeOverPage(
  frame: PageFrame,
  { from, acceptsPasswords }: Pick<FrameOidc, 'acceptsPasswords'> & { readonly from: FrameProvider },
  email: string,
): Html {
  const { label } = from
  const next = encodeURIComponent(confirmPath + providerQuery(from, ''))
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

/** The links that lead to the providers, on the sign-in page. */
function providerLinks({ base }: PageFrame, { providers }: FrameOidc, next: string): readonly Html[] {
  return providers.map(
    (provider) =>
      html`<a class="button wide" href="${base}${startSignInPath}${providerQuery(provider, next)}">Sign in with ${provider.label}</a>`,
  )
}
