import { type Html, html, staticNotice } from '#platform/pages/html.ts'
import type { Account } from '#store/accounts.ts'
import { form, formMessage, hidden } from '../form.ts'
import { emptyForm, type FormState, type PageFrame } from '../frame.ts'
import { page } from '../layout.ts'
import { cell, titleRow } from '../parts.ts'
import { accountCell, belowAccounts, planField, roleField, stateBadge } from './account-forms.ts'
import type { SeveralAction } from './list-page.ts'

interface SeveralView {
  readonly action: SeveralAction
  readonly accounts: readonly Account[]
  /** The query string of the list that they were ticked in. */
  readonly list: string
  readonly state?: FormState | undefined
}

/** Asks whether all ticked accounts are to be changed. */
export function severalAccountsPage(
  frame: PageFrame,
  { action, accounts, list, state = emptyForm }: SeveralView,
): Html {
  const { accounts: shared, layout, severalAccounts } = frame.texts
  const texts = severalAccounts[action]
  return page(frame, {
    title: texts.title(accounts.length),
    ...belowAccounts(frame, list),
    lead: texts.lead,
    body: html`<section class="card"><div class="body">${form(frame, {
      action: '/accounts/several/apply',
      body: html`${formMessage(state)}${hidden({ action, list })}${accounts.map(({ id }, index) =>
        hidden({ [`id${index}`]: id }),
      )}${action === 'role' && roleField(frame, state, '')}${action === 'plan' && planField(frame, state, undefined)}<div class="row"><button class="primary${action === 'disable' && ' danger'}">${texts.action}</button><a class="button" href="${frame.base}/accounts${list}">${shared.cancel}</a></div>`,
    })}</div></section>
<section class="card" aria-label="${layout.sections['/accounts']}"><table>${titleRow([shared.account, shared.role, shared.plan, shared.state])}<tbody>${accounts.map(
      (account) => html`<tr>${accountCell(frame, account)}${facts(frame, account)}</tr>`,
    )}</tbody></table></section>`,
  })
}

function facts(frame: PageFrame, account: Account): Html {
  const { role, plan } = account
  const { accounts } = frame.texts
  return html`${cell(accounts.role, role)}${cell(accounts.plan, plan ?? '–')}${cell(accounts.state, stateBadge(frame, account))}`
}

interface SeveralOutcome {
  readonly changed: number
  /** Accounts that stay as they were, and why. */
  readonly refused: readonly { readonly account: Account; readonly why: string }[]
  readonly list: string
}

/** What became of the accounts, if some could not be changed. */
export function severalOutcomePage(frame: PageFrame, { changed, refused, list }: SeveralOutcome): Html {
  const texts = frame.texts.severalAccounts.outcome
  return page(frame, {
    title: texts.title(changed, changed + refused.length),
    ...belowAccounts(frame, list),
    body: html`<div role="alert">${staticNotice('bad', texts.refused(refused.length))}</div>
<section class="card" aria-label="${texts.table}"><table>${titleRow([frame.texts.accounts.account, texts.why])}<tbody>${refused.map(
      ({ account, why }) => html`<tr>${accountCell(frame, account)}${cell(texts.why, why)}</tr>`,
    )}</tbody></table></section>`,
  })
}
