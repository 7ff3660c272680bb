import { emailLengthMax } from '../../accounts/account-input.ts'
import { type Html, html } from '../../pages/html.ts'
import { passwordLength } from '../../secrets/passwords.ts'
import { field, form, formMessage, usernameField } from './form.ts'
import type { FormState, PageFrame } from './frame.ts'
import { page, signedOutPage } from './page.ts'

/** The sign-in page, with a link to set a password. */
export function signInPage(frame: PageFrame, state: FormState & { readonly next: string }): Html {
  const body = html`<div class="card"><div class="body">${formMessage(state)}${form(frame, {
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
<p class="after">First time here, or forgot your password? Ask an administrator for a set-up link, or <a href="${frame.base}/setup">use your link</a>.</p>`
  return signedOutPage(frame, { title: 'Sign in', lead: 'Manage your keys and sessions.', body })
}

/** The page to choose a password with a link. The script fills in its token, after the `#`; without it, it is pasted. */
export function setupPage(frame: PageFrame, state: FormState): Html {
  const body = html`<div class="card"><div class="body">${formMessage(state)}${form(frame, {
    action: '/setup',
    data: ['fill-from-fragment', ''],
    body: html`${tokenField(state, 'Set-up link')}
${usernameField(undefined)}
${newPasswordFields(state, 'Password')}
<button class="primary wide">Set password</button>`,
  })}</div></div>
<p class="after">Links work once and expire after 15 minutes. Setting a password signs out all other browsers. Already have a password? <a href="${frame.base}/sign-in">Sign in</a></p>`
  return signedOutPage(frame, { title: 'Choose a password', lead: 'Use it to sign in from now on.', body })
}

/** The page to verify an e-mail with a link; here too the script fills in the token. */
export function verifyEmailPage(frame: PageFrame, state: FormState): Html {
  const body = html`<div class="card"><div class="body">${formMessage(state)}${form(frame, {
    action: '/verify',
    data: ['fill-from-fragment', ''],
    body: html`${tokenField(state, 'Link from the e-mail')}
<button class="primary wide">Confirm e-mail</button>`,
  })}</div></div>`
  return signedOutPage(frame, { title: 'Confirm your e-mail', body })
}

/** Hidden once it is filled in: otherwise a screenshot would be enough to use the link. */
function tokenField(state: FormState, label: string): Html {
  const { token = '' } = state.values
  if (token !== '') return html`<input type="hidden" name="token" value="${token}">`
  return field(state, {
    name: 'token',
    label,
    autocomplete: 'off',
    isExact: true,
    hint: 'The whole link, or the part after the #.',
  })
}

/** A new password, typed twice, with its rules. */
export function newPasswordFields(state: FormState, label: string): Html {
  return html`${field(state, {
    name: 'password',
    label,
    type: 'password',
    autocomplete: 'new-password',
    lengthMin: passwordLength.charactersMin,
    hint: `At least ${passwordLength.charactersMin} characters. A few words you can remember are best; common passwords are refused.`,
  })}
${field(state, {
  name: 'again',
  label: `${label}, again`,
  type: 'password',
  autocomplete: 'new-password',
})}`
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
