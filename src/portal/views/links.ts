import { emailLengthMax } from '#accounts/account-input.ts'
import { time } from '#platform/pages/format.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { passwordLength } from '#platform/secrets/passwords.ts'
import { spanText } from '#platform/time.ts'
import { actionRow, field, form, formMessage, usernameField } from './form.ts'
import type { FormState, PageFrame } from './frame.ts'
import { signedOutPage } from './layout.ts'

/** The page for somebody who forgot the password. */
export function forgottenPage(
  frame: PageFrame,
  state: FormState,
  { canSend, linkLifetimeMs }: { readonly canSend: boolean; readonly linkLifetimeMs: number },
): Html {
  const body = canSend
    ? html`<div class="card"><div class="body">${formMessage(state)}${form(frame, {
        action: '/forgot',
        body: html`${field(state, {
          name: 'email',
          label: 'E-mail',
          type: 'email',
          autocomplete: 'username',
          hasFocus: true,
          lengthMax: emailLengthMax,
          hint: `We send a link to this address. It works once, for ${spanText(linkLifetimeMs)}.`,
        })}
<button class="primary wide">Send link</button>`,
      })}</div></div>
<p class="after">A new password signs out every browser. Your keys stay as they are. <a href="${frame.base}/sign-in">Sign in</a></p>`
    : html`<div class="card"><div class="body"><p>This gateway sends no e-mail. Ask an administrator for a set-up link to choose a new password.</p></div></div>
<p class="after">Got a link? <a href="${frame.base}/setup">Use it</a>, or <a href="${frame.base}/sign-in">sign in</a>.</p>`
  return signedOutPage(frame, { title: 'Forgot your password?', body })
}

/** The same for every e-mail. */
export function linkRequestedPage(
  frame: PageFrame,
  { email, linkLifetimeMs }: { readonly email: string; readonly linkLifetimeMs: number },
): Html {
  const body = html`<div class="card"><div class="body"><p>If <strong>${email}</strong> has an account, a link to choose a new password is on its way. It works once, for ${spanText(linkLifetimeMs)}.</p>
<p class="hint">No e-mail? Check your spam folder and the address, or ask an administrator for a set-up link.</p></div></div>
<p class="after"><a href="${frame.base}/forgot">Another address</a> · <a href="${frame.base}/sign-in">Sign in</a></p>`
  return signedOutPage(frame, { title: 'Check your e-mail', body })
}

/**
 * The page that a password link opens. The script fills in its token, after the `#`, and submits it; without the script
 * it is pasted. So people learn whether the link works before they type anything else.
 */
export function passwordLinkPage(frame: PageFrame, state: FormState): Html {
  const body = html`<div class="card"><div class="body">${formMessage(state)}${form(frame, {
    action: '/setup/check',
    data: ['fill-from-fragment', 'submit'],
    body: html`${tokenField(state, 'Set-up link')}
<button class="primary wide">Continue</button>`,
  })}</div></div>
<p class="after">Links work once, and for a limited time. <a href="${frame.base}/forgot">Get another link</a>, or <a href="${frame.base}/sign-in">sign in</a>.</p>`
  return signedOutPage(frame, { title: 'Choose a password', body })
}

/** The page to choose a password with a valid link. @param expiresAt undefined = unknown */
export function setupPage(frame: PageFrame, state: FormState, expiresAt: number | undefined): Html {
  const body = html`<div class="card"><div class="body">${formMessage(state)}${form(frame, {
    action: '/setup',
    body: html`${tokenField(state, 'Set-up link')}
${usernameField(undefined)}
${newPasswordFields(state, 'Password')}
<button class="primary wide">Set password</button>`,
  })}</div></div>
<p class="after">${expiresAt !== undefined && html`The link expires ${time(expiresAt, frame)}. `}Setting a password signs out all other browsers; keys stay as they are. <a href="${frame.base}/sign-in">Sign in</a></p>`
  return signedOutPage(frame, { title: 'Choose a password', lead: 'Use it to sign in from now on.', body })
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
  const body = html`<div class="card"><div class="body">${owner && ownerNote(frame, owner)}${formMessage(state)}${form(
    frame,
    {
      action: '/verify',
      data: ['fill-from-fragment', ''],
      body: html`${tokenField(state, 'Link from the e-mail')}
<button class="primary wide">Confirm e-mail</button>`,
    },
  )}</div></div>
<p class="after">The link works only while you are signed in to the account that asked for it.</p>`
  return signedOutPage(frame, { title: 'Confirm your e-mail', body })
}

function ownerNote({ base }: PageFrame, { account, email, viewer }: LinkOwner): Html {
  const signIn = html`<a href="${base}/sign-in?next=%2Fverify">Sign in to it</a>`
  const how =
    viewer === undefined
      ? html`${signIn}, then open the link in the e-mail again.`
      : html`You are signed in to <strong>${viewer}</strong>: sign out, sign in to that account, then open the link in the e-mail again.`
  return html`<div role="alert"><p>This link makes <strong>${email}</strong> the e-mail of the account <strong>${account}</strong>. ${how}</p>
<p>Is that not your account? Then leave it: nothing has changed.</p></div>`
}

/** Hidden once it is filled in, as otherwise a screenshot would be enough to use the link. */
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

/** For Admins: a set-up link for the owner of an account, shown or mailed. */
export function setupLinkRows(frame: PageFrame, id: string): Html {
  const hint = 'Lets the owner set a portal password.'
  return html`${actionRow(frame, {
    path: `/accounts/${id}/set-up-link`,
    text: 'Set-up link',
    hint,
    button: 'Create link',
  })}${
    frame.canMailLinks &&
    actionRow(frame, {
      path: `/accounts/${id}/mail-set-up-link`,
      text: 'Set-up link by e-mail',
      hint: `${hint} It goes to the e-mail of the account.`,
      button: 'Mail link',
    })
  }`
}
