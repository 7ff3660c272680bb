import { type Html, html } from '#platform/pages/html.ts'
import type { Account } from '#store/account.ts'
import { field, form, formMessage } from './form.ts'
import { emptyForm, type FormState, type PageFrame } from './frame.ts'
import { page } from './page.ts'

/** Confirms the deletion of an account: its e-mail must be typed. */
export function deleteAccountPage(frame: PageFrame, account: Account, state: FormState = emptyForm): Html {
  const { id, email } = account
  return page(frame, {
    title: 'Delete this account?',
    section: '/accounts',
    breadcrumb: { href: `/accounts/${id}`, text: email },
    lead: html`<strong>${email}</strong> loses its keys, tokens and sessions immediately. This cannot be undone.`,
    body: html`<section class="card"><div class="body">${form(frame, {
      action: `/accounts/${id}/delete`,
      body: html`${formMessage(state)}${field(state, {
        name: 'confirmation',
        label: 'Type the account e-mail to confirm',
        autocomplete: 'off',
        isExact: true,
        hasFocus: true,
      })}<div class="row"><button class="danger primary">Delete account</button><a class="button" href="${frame.base}/accounts/${id}">Cancel</a></div>`,
    })}</div></section>`,
  })
}
