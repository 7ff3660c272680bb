import { defaultRole, emailLengthMax } from '#accounts/account-input.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { field, form, formMessage } from '../form.ts'
import { emptyForm, type FormState, type PageFrame } from '../frame.ts'
import { page } from '../layout.ts'
import { nameFields } from '../profile-page.ts'
import { backToAccounts, mailLinkField, planField, roleField } from './parts.ts'

/** The form for a new account. */
export function newAccountPage(frame: PageFrame, state: FormState = emptyForm): Html {
  const { accounts } = frame.texts
  const texts = accounts.new
  const body = form(frame, {
    action: '/accounts/new',
    body: html`${formMessage(state)}${field(state, {
      name: 'email',
      label: accounts.email,
      type: 'email',
      autocomplete: 'off',
      lengthMax: emailLengthMax,
      hasFocus: true,
    })}${nameFields(frame, state, { firstName: '', lastName: '' })}${roleField(frame, state, defaultRole)}${planField(frame, state, undefined)}
<label class="check"><input type="checkbox" name="isVerified" value="true"${state.values.isVerified === 'true' && html` checked`}>${texts.isVerified}</label>
${mailLinkField(frame, state, texts.mailsLink)}
<div class="row"><button class="primary">${texts.submit}</button><a class="button" href="${frame.base}/accounts">${accounts.cancel}</a></div>`,
  })
  return page(frame, {
    title: texts.title,
    section: '/accounts',
    breadcrumb: backToAccounts(frame),
    lead: frame.oidc?.acceptsPasswords === false ? texts.lead : texts.leadWithLink,
    body: html`<section class="card"><div class="body">${body}</div></section>`,
  })
}
