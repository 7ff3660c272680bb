import { type Html, html } from '#platform/pages/html.ts'
import type { Account } from '#store/accounts.ts'
import { field, form, formMessage } from '../form.ts'
import { emptyForm, type FormState, type PageFrame } from '../frame.ts'
import { page } from '../layout.ts'

/** Confirms the deletion of an account: its e-mail must be typed. */
export function deleteAccountPage(frame: PageFrame, account: Account, state: FormState = emptyForm): Html {
  const { id, email } = account
  const { accounts } = frame.texts
  const texts = accounts.delete
  return page(frame, {
    title: texts.title,
    section: '/accounts',
    breadcrumb: { href: `/accounts/${id}`, text: email },
    lead: texts.lead(email),
    body: html`<section class="card"><div class="body">${form(frame, {
      action: `/accounts/${id}/delete`,
      body: html`${formMessage(state)}${field(state, {
        name: 'confirmation',
        label: texts.confirmation,
        autocomplete: 'off',
        isExact: true,
        hasFocus: true,
      })}<div class="row"><button class="danger primary">${texts.submit}</button><a class="button" href="${frame.base}/accounts/${id}">${accounts.cancel}</a></div>`,
    })}</div></section>`,
  })
}
