import { fullName } from '#accounts/account-input.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { staticNotice } from '#platform/pages/parts.ts'
import type { Account } from '#store/account.ts'
import type { SeveralAction } from './account-list-page.ts'
import { planField, plural, roleField, stateBadge } from './accounts-page.ts'
import { form, formMessage } from './form.ts'
import { emptyForm, type FormState, type PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { cell, titleRow } from './parts.ts'

export interface SeveralView {
  readonly action: SeveralAction
  readonly accounts: readonly Account[]
  /** The query string of the list that they were ticked in. */
  readonly list: string
  readonly state?: FormState | undefined
}

const texts: Readonly<
  Record<SeveralAction, { readonly title: string; readonly lead: string; readonly button: string }>
> = {
  disable: {
    title: 'Disable',
    lead: 'Their keys stop working and their sessions end. Enabling them again restores the keys, not the sessions.',
    button: 'Disable',
  },
  enable: { title: 'Enable', lead: 'Their keys work again.', button: 'Enable' },
  role: {
    title: 'Change the role of',
    lead: 'Access tokens issued with the old role are revoked.',
    button: 'Change the role',
  },
  plan: {
    title: 'Change the plan of',
    lead: 'The new plan applies from the next request on.',
    button: 'Change the plan',
  },
}

/** Asks whether all ticked accounts are to be changed. */
export function severalAccountsPage(
  frame: PageFrame,
  { action, accounts, list, state = emptyForm }: SeveralView,
): Html {
  const { title, lead, button } = texts[action]
  return page(frame, {
    title: `${title} ${plural(accounts.length, 'account')}?`,
    section: '/accounts',
    breadcrumb: { href: `/accounts${list}`, text: 'Accounts' },
    lead,
    body: html`<section class="card"><div class="body">${form(frame, {
      action: '/accounts/several/apply',
      body: html`${formMessage(state)}<input type="hidden" name="action" value="${action}"><input type="hidden" name="list" value="${list}">${accounts.map(
        ({ id }, index) => html`<input type="hidden" name="id${index}" value="${id}">`,
      )}${action === 'role' && roleField(frame, state, '')}${action === 'plan' && planField(frame, state, undefined)}<div class="row"><button class="primary${action === 'disable' && ' danger'}">${button}</button><a class="button" href="${frame.base}/accounts${list}">Cancel</a></div>`,
    })}</div></section>
<section class="card" aria-label="Accounts"><table>${titleRow(['Account', 'Role', 'Plan', 'State'])}<tbody>${accounts.map(
      (account) => html`<tr>${accountCell(frame, account)}${facts(frame, account)}</tr>`,
    )}</tbody></table></section>`,
  })
}

function facts(frame: PageFrame, account: Account): Html {
  const { role, plan } = account
  return html`${cell('Role', html`${role}`)}${cell('Plan', html`${plan ?? '–'}`)}${cell('State', stateBadge(frame, account))}`
}

function accountCell({ base }: PageFrame, account: Account): Html {
  const name = fullName(account)
  return html`<td><div><a class="name" href="${base}/accounts/${account.id}">${account.email}</a>${name !== '' && html`<span class="sub">${name}</span>`}</div></td>`
}

export interface SeveralOutcome {
  readonly changed: number
  /** Accounts that stay as they were, and why. */
  readonly refused: readonly { readonly account: Account; readonly why: string }[]
  readonly list: string
}

/** What became of the accounts, if some could not be changed. */
export function severalOutcomePage(frame: PageFrame, { changed, refused, list }: SeveralOutcome): Html {
  const of = plural(changed + refused.length, 'account')
  return page(frame, {
    title: `${changed} of ${of} changed`,
    section: '/accounts',
    breadcrumb: { href: `/accounts${list}`, text: 'Accounts' },
    body: html`<div role="alert">${staticNotice('bad', `${plural(refused.length, 'account')} could not be changed.`)}</div>
<section class="card" aria-label="Accounts that were not changed"><table>${titleRow(['Account', 'Why'])}<tbody>${refused.map(
      ({ account, why }) => html`<tr>${accountCell(frame, account)}${cell('Why', html`${why}`)}</tr>`,
    )}</tbody></table></section>`,
  })
}
