import { time } from '#platform/pages/format.ts'
import { attributeIf, badge, card, type Html, html } from '#platform/pages/html.ts'
import type { Account } from '#store/accounts.ts'
import { languages } from '../texts/texts.ts'
import { button, emailField, field, fieldError, form, formMessage, nameFields } from './form.ts'
import { type PageFrame, type RefusedForm, stateOf } from './frame.ts'
import { page } from './layout.ts'
import { verifiedBadge } from './parts.ts'
import { currentPasswordField, newPasswordFields, usernameField } from './proof-fields.ts'

export type ProfileForm = 'name' | 'email' | 'language' | 'password'

interface ProfileView {
  readonly account: Account
  /** Whether mail can be sent; if not, an Admin verifies and changes e-mails. */
  readonly canSend: boolean
  readonly hasSecondFactor: boolean
  readonly refused?: RefusedForm<ProfileForm> | undefined
}

/** One's own name, e-mail, language and password, and the way to the second factor. */
export function profilePage(frame: PageFrame, view: ProfileView): Html {
  const { account } = view
  const { accounts, parts, profile } = frame.texts
  return page(frame, {
    title: frame.texts.layout.sections['/profile'],
    section: '/profile',
    body: html`${card({
      title: accounts.account,
      body: html`<dl class="facts"><div><dt>${profile.id}</dt><dd class="mono">${account.id}</dd></div><div><dt>${accounts.role}</dt><dd>${account.role}</dd></div>
<div><dt>${accounts.email}</dt><dd>${account.email}</dd></div><div><dt>${parts.created}</dt><dd>${time(account.createdAt, frame)}</dd></div></dl>`,
    })}${nameCard(frame, view)}${emailCard(frame, view)}${languageCard(frame, view)}${passwordCard(frame, view)}${secondFactorCard(frame, view)}`,
  })
}

function nameCard(frame: PageFrame, view: ProfileView): Html {
  const state = stateOf(view.refused, 'name')
  return card({
    title: frame.texts.parts.name,
    body: form(frame, {
      action: '/profile/name',
      body: html`${formMessage(state, true)}${nameFields(frame, state, view.account)}<div>${button(frame.texts.profile.saveName)}</div>`,
    }),
  })
}

function emailCard(frame: PageFrame, view: ProfileView): Html {
  const { account, canSend } = view
  const { accounts, profile: texts } = frame.texts
  const state = stateOf(view.refused, 'email')
  const body = canSend
    ? form(frame, {
        action: '/profile/email',
        body: html`${formMessage(state, true)}${emailField(state, {
          label: accounts.email,
          autocomplete: 'email',
          value: account.email,
          hint: texts.emailHint,
        })}${currentPasswordField(frame, state, 'email-')}<div>${button(account.isVerified ? texts.changeEmail : texts.sendLink)}</div>`,
      })
    : html`<p class="muted">${texts.noMail}</p>`
  return card({ title: accounts.email, aside: verifiedBadge(frame, account.isVerified), body })
}

function languageCard(frame: PageFrame, view: ProfileView): Html {
  const { language = '' } = view.account.portal
  const error = stateOf(view.refused, 'language').errors.language
  const texts = frame.texts.profile
  const options = [{ tag: '', name: texts.browserLanguage }, ...languages].map(
    ({ tag, name }) =>
      html`<option value="${tag}"${tag !== '' && html` lang="${tag}"`}${attributeIf(tag === language, 'selected')}>${name}</option>`,
  )
  return card({
    title: texts.language,
    lead: texts.languageLead,
    body: form(frame, {
      action: '/profile/language',
      body: html`<div class="field"><label for="language">${texts.language}</label><select id="language" name="language"${error !== undefined && html` aria-describedby="language-error" aria-invalid="true"`}>${options}</select>${error !== undefined && fieldError('language-error', error)}</div><div>${button(texts.saveLanguage)}</div>`,
    }),
  })
}

function secondFactorCard(
  { base, oidc, passkeys, texts: { profile, secondFactor } }: PageFrame,
  { hasSecondFactor }: ProfileView,
): Html | undefined {
  // A second factor belongs to a password.
  if (oidc && !oidc.hasPassword) return undefined
  return card({
    title: secondFactor.title,
    lead: passkeys ? profile.secondFactorOrPasskeyLead : profile.secondFactorLead,
    aside: hasSecondFactor ? badge('good', profile.on) : badge('plain', profile.off),
    body: html`<a class="button" href="${base}/profile/two-factor">${hasSecondFactor ? profile.manage : profile.setUp}</a>`,
  })
}

function passwordCard(frame: PageFrame, view: ProfileView): Html | undefined {
  // A person without a password cannot enter the current one: a set-up link sets the first.
  if (frame.oidc && !frame.oidc.hasPassword) return undefined
  const state = stateOf(view.refused, 'password')
  const texts = frame.texts.profile
  return card({
    title: frame.texts.parts.password,
    lead: texts.passwordLead,
    body: form(frame, {
      action: '/profile/password',
      body: html`${formMessage(state, true)}${usernameField(view.account.email)}
${field(state, {
  name: 'current',
  label: texts.currentPassword,
  type: 'password',
  autocomplete: 'current-password',
})}${newPasswordFields(frame, state, texts.newPassword)}<div>${button(texts.changePassword)}</div>`,
    }),
  })
}
