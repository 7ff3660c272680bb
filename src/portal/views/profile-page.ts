import { emailLengthMax, nameLengthMax } from '#accounts/account-input.ts'
import { time } from '#platform/pages/format.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { badge, card } from '#platform/pages/parts.ts'
import { button, currentPasswordField, field, form, formMessage, usernameField } from './form.ts'
import { emptyForm, type FormState, type PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { newPasswordFields } from './links.ts'

export type ProfileForm = 'name' | 'email' | 'password'

interface ProfileView {
  readonly account: {
    readonly id: string
    readonly email: string
    readonly firstName: string
    readonly lastName: string
    readonly role: string
    readonly isVerified: boolean
    readonly createdAt: number
  }
  /** Whether mail can be sent; if not, an Admin verifies and changes e-mails. */
  readonly canSend: boolean
  readonly hasSecondFactor: boolean
  /** The form that was refused. */
  readonly refused?: { readonly form: ProfileForm; readonly state: FormState } | undefined
}

/** One's own name, e-mail and password. */
export function profilePage(frame: PageFrame, view: ProfileView): Html {
  const { account } = view
  return page(frame, {
    title: 'Profile',
    section: '/profile',
    body: html`${card({
      title: 'Account',
      body: html`<dl class="facts"><div><dt>ID</dt><dd class="mono">${account.id}</dd></div><div><dt>Role</dt><dd>${account.role}</dd></div>
<div><dt>E-mail</dt><dd>${account.email}</dd></div><div><dt>Created</dt><dd>${time(account.createdAt, frame.now)}</dd></div></dl>`,
    })}${nameCard(frame, view)}${emailCard(frame, view)}${passwordCard(frame, view)}${secondFactorCard(frame, view)}`,
  })
}

export function verifiedBadge(isVerified: boolean): Html {
  return isVerified ? badge('good', 'Verified') : badge('warn', 'Not verified')
}

function stateOf({ refused }: ProfileView, name: ProfileForm): FormState {
  return refused?.form === name ? refused.state : emptyForm
}

function nameCard(frame: PageFrame, view: ProfileView): Html {
  const state = stateOf(view, 'name')
  return card({
    title: 'Name',
    body: form(frame, {
      action: '/profile/name',
      body: html`${formMessage(state, true)}${nameFields(state, view.account)}<div>${button('Save name')}</div>`,
    }),
  })
}

/** First and last name, side by side if there is room. */
export function nameFields(
  state: FormState,
  names: { readonly firstName: string; readonly lastName: string },
): Html {
  return html`<div class="fields two">${field(state, {
    name: 'firstName',
    label: 'First name',
    autocomplete: 'given-name',
    isOptional: true,
    lengthMax: nameLengthMax,
    value: names.firstName,
  })}${field(state, {
    name: 'lastName',
    label: 'Last name',
    autocomplete: 'family-name',
    isOptional: true,
    lengthMax: nameLengthMax,
    value: names.lastName,
  })}</div>`
}

function emailCard(frame: PageFrame, view: ProfileView): Html {
  const { account, canSend } = view
  const state = stateOf(view, 'email')
  const body = canSend
    ? form(frame, {
        action: '/profile/email',
        body: html`${formMessage(state, true)}${field(state, {
          name: 'email',
          label: 'E-mail',
          type: 'email',
          autocomplete: 'email',
          lengthMax: emailLengthMax,
          value: account.email,
          hint: 'We send a link to this address. The change takes effect when the link is opened.',
        })}${currentPasswordField(frame, state, 'email-')}<div>${button(account.isVerified ? 'Change e-mail' : 'Send link')}</div>`,
      })
    : html`<p class="muted">No mail server is configured: an administrator changes and verifies e-mails.</p>`
  return card({ title: 'E-mail', aside: verifiedBadge(account.isVerified), body })
}

function secondFactorCard(
  { base, oidc, passkeys }: PageFrame,
  { hasSecondFactor }: ProfileView,
): Html | undefined {
  // It is bound to the password.
  if (oidc && !oidc.hasPassword) return undefined
  return card({
    title: 'Two-factor sign-in',
    lead: `After the password, ${passkeys ? 'a passkey or ' : ''}a code from an app on your phone.${passkeys ? ' A passkey also signs you in without the password.' : ''}`,
    aside: hasSecondFactor ? badge('good', 'On') : badge('plain', 'Off'),
    body: html`<a class="button" href="${base}/profile/two-factor">${hasSecondFactor ? 'Manage' : 'Set up'}</a>`,
  })
}

function passwordCard(frame: PageFrame, view: ProfileView): Html | undefined {
  // A person without a password cannot enter the current one: a set-up link sets the first.
  if (frame.oidc && !frame.oidc.hasPassword) return undefined
  const state = stateOf(view, 'password')
  return card({
    title: 'Password',
    lead: 'Changing it signs out all other browsers.',
    body: form(frame, {
      action: '/profile/password',
      body: html`${formMessage(state, true)}${usernameField(view.account.email)}
${field(state, {
  name: 'current',
  label: 'Current password',
  type: 'password',
  autocomplete: 'current-password',
})}${newPasswordFields(state, 'New password')}<div>${button('Change password')}</div>`,
    }),
  })
}
