import { time } from '#platform/pages/format.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { spanText } from '#platform/time.ts'
import { emailField, field, form, formMessage, hidden } from './form.ts'
import type { FormState, PageFrame } from './frame.ts'
import { signedOutPage } from './layout.ts'
import { newPasswordFields, usernameField } from './proof-fields.ts'

/** The page for somebody who forgot the password. */
export function forgottenPage(
  frame: PageFrame,
  state: FormState,
  { canSend, linkLifetimeMs }: { readonly canSend: boolean; readonly linkLifetimeMs: number },
): Html {
  const { base } = frame
  const { links, accounts, signIn } = frame.texts
  const { forgotten } = links
  const { title } = forgotten
  if (!canSend) {
    const after = forgotten.hasLink(`${base}/setup`, `${base}/sign-in`)
    return signedOutPage(frame, { title, body: html`<p>${forgotten.noMail}</p>`, after })
  }
  return signedOutPage(frame, {
    title,
    body: html`${formMessage(state)}${form(frame, {
      action: '/forgot',
      body: html`${emailField(state, {
        label: accounts.email,
        autocomplete: 'username',
        hasFocus: true,
        hint: forgotten.emailHint(spanText(linkLifetimeMs, frame.locale)),
      })}
<button class="primary wide">${forgotten.submit}</button>`,
    })}`,
    after: html`${forgotten.after} <a href="${base}/sign-in">${signIn.submit}</a>`,
  })
}

/** Says the same for every e-mail, whether it has an account or not. */
export function linkRequestedPage(
  frame: PageFrame,
  { email, linkLifetimeMs }: { readonly email: string; readonly linkLifetimeMs: number },
): Html {
  const { links, signIn } = frame.texts
  const { title, sent, noEmail, anotherAddress } = links.requested
  return signedOutPage(frame, {
    title,
    body: html`<p>${sent(html`<strong>${email}</strong>`, spanText(linkLifetimeMs, frame.locale))}</p>
<p class="hint">${noEmail}</p>`,
    after: html`<a href="${frame.base}/forgot">${anotherAddress}</a> · <a href="${frame.base}/sign-in">${signIn.submit}</a>`,
  })
}

/**
 * The page that a password link opens. The script fills in its token, after the `#`, and submits it; without the script
 * people paste it. So they learn whether the link works before they type anything else.
 */
export function passwordLinkPage(frame: PageFrame, state: FormState): Html {
  const { base, texts } = frame
  const { title, after } = texts.links.password
  return signedOutPage(frame, {
    title,
    body: html`${formMessage(state)}${form(frame, {
      action: '/setup/check',
      data: ['fill-from-fragment', 'submit'],
      body: html`${tokenField(frame, state)}
<button class="primary wide">${texts.errors.continue}</button>`,
    })}`,
    after: after(`${base}/forgot`, `${base}/sign-in`),
  })
}

/** The page to choose a password with a valid link. @param expiresAt undefined = unknown */
export function setupPage(frame: PageFrame, state: FormState, expiresAt: number | undefined): Html {
  const { links, parts, signIn } = frame.texts
  const { setup, password } = links
  return signedOutPage(frame, {
    title: password.title,
    lead: setup.lead,
    body: html`${formMessage(state)}${form(frame, {
      action: '/setup',
      body: html`${tokenField(frame, state)}
${usernameField(undefined)}
${newPasswordFields(frame, state, parts.password)}
<button class="primary wide">${setup.submit}</button>`,
    })}`,
    after: html`${expiresAt !== undefined && html`${setup.expires(time(expiresAt, frame))} `}${setup.after} <a href="${frame.base}/sign-in">${signIn.submit}</a>`,
  })
}

/** Who may use a link that verifies an e-mail. */
interface LinkOwner {
  /** The e-mail of the account that asked for it. */
  readonly account: string
  /** The e-mail that it verifies. */
  readonly email: string
  /** Who is signed in instead; undefined = nobody. */
  readonly viewer: string | undefined
}

/**
 * The page to verify an e-mail with a link; here too the script fills in the token.
 * @param owner who has to sign in first; undefined = nobody has tried yet
 */
export function verifyEmailPage(frame: PageFrame, state: FormState, owner?: LinkOwner): Html {
  const { verify } = frame.texts.links
  const { title, after } = verify
  return signedOutPage(frame, {
    title,
    body: html`${owner && ownerNote(frame, owner)}${formMessage(state)}${form(frame, {
      action: '/verify',
      data: ['fill-from-fragment', ''],
      body: html`${tokenField(frame, state, verify.token)}
<button class="primary wide">${verify.submit}</button>`,
    })}`,
    after,
  })
}

function ownerNote({ base, texts }: PageFrame, { account, email, viewer }: LinkOwner): Html {
  const { verify } = texts.links
  const how =
    viewer === undefined
      ? verify.signInFirst(`${base}/sign-in?next=%2Fverify`)
      : verify.signOutFirst(html`<strong>${viewer}</strong>`)
  return html`<div role="alert"><p>${verify.owner(html`<strong>${email}</strong>`, html`<strong>${account}</strong>`)} ${how}</p>
<p>${verify.notYours}</p></div>`
}

/** Hidden once it is filled in, as otherwise a screenshot would be enough to use the link. */
function tokenField({ texts: { links } }: PageFrame, state: FormState, label = links.token): Html {
  const { token = '' } = state.values
  if (token !== '') return hidden({ token })
  return field(state, {
    name: 'token',
    label,
    autocomplete: 'off',
    isExact: true,
    hint: links.tokenHint,
  })
}
