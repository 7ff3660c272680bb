import { type Html, html } from '#platform/pages/html.ts'
import { emailField, field, form, formMessage, hidden } from './form.ts'
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
  const { oidc, base } = frame
  const texts = frame.texts.signIn
  const { title, lead } = texts
  const links = oidc && providerLinks(frame, oidc, state.next)
  if (oidc?.acceptsPasswords === false) {
    return signedOutPage(frame, { title, lead, body: html`${formMessage(state)}${links}` })
  }
  const body = html`${links}${formMessage(state)}${form(frame, {
    action: '/sign-in',
    body: html`${hidden({ next: state.next })}
${emailField(state, {
  label: frame.texts.accounts.email,
  autocomplete: 'username',
  hasFocus: (state.values.email ?? '') === '',
})}
${field(state, {
  name: 'password',
  label: frame.texts.parts.password,
  type: 'password',
  autocomplete: 'current-password',
  hasFocus: (state.values.email ?? '') !== '',
})}
<button class="primary wide">${texts.submit}</button>`,
  })}${frame.passkeys && passkeyPart(frame, frame.passkeys, state)}`
  return signedOutPage(frame, {
    title,
    lead,
    body,
    after: texts.otherWays(`${base}/forgot`, `${base}/setup`),
  })
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
    body: hidden({ next }),
    text: frame.texts.signIn.withPasskey,
    look: 'wide',
  })
}

export interface ErrorContent {
  readonly title: string
  readonly detail: string | undefined
  readonly requestId: string
  /** undefined = the start of the portal. */
  readonly recoveryLink?: { readonly href: string; readonly text: string } | undefined
}

/** An error that cannot be shown in a form; with the usual navigation for a signed-in viewer. */
export function errorPage(frame: PageFrame, { title, detail, requestId, recoveryLink }: ErrorContent): Html {
  const texts = frame.texts.signIn
  const link = recoveryLink
    ? html`<a class="button" href="${recoveryLink.href}">${recoveryLink.text}</a>`
    : html`<a href="${frame.base}">${texts.back}</a>`
  const body = html`<p>${link}</p>
<p class="hint">${texts.requestId} <code>${requestId}</code></p>`
  if (!frame.viewer) return signedOutPage(frame, { title, lead: detail, body })
  return page(frame, {
    title,
    lead: detail,
    body: html`<div class="card"><div class="body">${body}</div></div>`,
  })
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
  const texts = frame.texts.signIn.takeOver
  const next = encodeURIComponent(`/confirm${providerQuery(from, '')}`)
  const keep = acceptsPasswords && html`<p>${texts.keep(`${frame.base}/sign-in?next=${next}`, label)}</p>`
  const body = html`<p>${texts.usedBefore(html`<strong>${email}</strong>`, label)}</p>
${keep}
<p><strong>${acceptsPasswords ? texts.otherwise : texts.only}</strong> ${texts.consequences}</p>
${form(frame, {
  action: '/sign-in/take-over',
  body: html`<button class="danger wide">${texts.submit}</button>`,
})}`
  const after = html`<a href="${frame.base}/sign-in">${texts.back}</a>`
  return signedOutPage(frame, { title: texts.title, body, after })
}

function providerLinks({ base, texts }: PageFrame, { providers }: FrameOidc, next: string): readonly Html[] {
  return providers.map(
    (provider) =>
      html`<a class="button wide" href="${base}/sign-in/oidc${providerQuery(provider, next)}">${texts.signIn.withProvider(provider.label)}</a>`,
  )
}
