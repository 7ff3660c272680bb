import { fullName, noPlan } from '#accounts/account-input.ts'
import { queryLengthMax } from '#accounts/account-query.ts'
import { time } from '#platform/pages/format.ts'
import { attributeIf, type Html, html } from '#platform/pages/html.ts'
import { badge, emptyState, icon, staticNotice } from '#platform/pages/parts.ts'
import { dayOf, formatDay } from '#platform/time.ts'
import type { ListedAccount } from '#store/account-filter.ts'
import { plural, stateBadge } from './accounts-page.ts'
import { form } from './form.ts'
import type { PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { cell, pager } from './parts.ts'

/** The fields of the search form, by their names in the URL; '' = not narrowed. */
export const listFieldNames = ['q', 'role', 'plan', 'disabled', 'active', 'sort'] as const

export type ListFields = Readonly<Record<(typeof listFieldNames)[number], string>>

export interface AccountListView {
  readonly fields: ListFields
  /** How many accounts there are, whatever the fields. */
  readonly count: number
  readonly items: readonly ListedAccount[]
  readonly nextCursor: string | undefined
  readonly isFirstPage: boolean
  /** The error in the query. */
  readonly error?: string | undefined
}

/** All accounts, with a search, filters, pages, and what can be done to several at once. */
export function accountsPage(frame: PageFrame, view: AccountListView): Html {
  const { base, issuers } = frame
  const { items, error, fields } = view
  return page(frame, {
    title: 'Accounts',
    section: '/accounts',
    lead: countText(view),
    actions: html`${issuers.length > 0 && html`<a class="button" href="${base}/subjects">Blocked users</a>`}<a class="button" href="${base}/accounts/export${searchOf(fields)}" download>${icon('download')}CSV</a><a class="button" href="${base}/accounts/import">${icon('upload')}Import</a><a class="button primary" href="${base}/accounts/new">${icon('plus')}New account</a>`,
    body: html`${searchForm(frame, fields)}
${error !== undefined && staticNotice('bad', error)}
<section class="card" aria-label="Accounts">${items.length === 0 ? noAccounts(frame, view) : listForm(frame, view)}</section>
${pager(frame, {
  ...view,
  texts: ['First page', isCutShort(view) ? 'Continue the search' : 'Next page'],
  hrefOf: (cursor) => `${base}/accounts${searchOf(fields, cursor)}`,
})}`,
  })
}

function isNarrowed({ sort: _, ...others }: ListFields): boolean {
  return Object.values(others).some((value) => value !== '')
}

/** Whether the page ends where it has searched long enough, not where it is full. */
function isCutShort({ fields, items, nextCursor }: AccountListView): boolean {
  return isNarrowed(fields) && nextCursor !== undefined && items.length < accountsPerPage
}

/** How many are shown, and how many can be changed at once. */
export const accountsPerPage = 25

function countText({ fields, count, items, nextCursor, isFirstPage }: AccountListView): string {
  const all = plural(count, 'account')
  if (!isNarrowed(fields)) return `${all}.`
  return isFirstPage && nextCursor === undefined ? `${items.length} of ${all}.` : `Matches among ${all}.`
}

/** The query string of a list with these fields. */
export function searchOf(fields: ListFields, cursor?: string): string {
  const given = Object.entries({ ...fields, cursor: cursor ?? '' }).filter(([, value]) => value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

interface Choice {
  readonly value: string
  readonly text: string
}

/** In days: used within them, or not for so long. */
export const activityChoices = [
  { value: '7', text: 'Active in 7 days', days: 7, isActive: true },
  { value: '30', text: 'Active in 30 days', days: 30, isActive: true },
  { value: 'not-30', text: 'Idle for 30 days', days: 30, isActive: false },
  { value: 'not-90', text: 'Idle for 90 days', days: 90, isActive: false },
  { value: 'not-365', text: 'Idle for a year', days: 365, isActive: false },
] as const

function searchForm({ base, roles, plans }: PageFrame, fields: ListFields): Html {
  const named = (names: readonly string[], name: 'role' | 'plan') =>
    [...new Set([...names, ...(fields[name] === '' || fields[name] === noPlan ? [] : [fields[name]])])].map(
      (value) => ({ value, text: value }),
    )
  const select = (name: keyof ListFields, label: string, any: string, choices: readonly Choice[]) =>
    html`<div><label class="visually-hidden" for="${name}">${label}</label><select id="${name}" name="${name}"><option value="">${any}</option>${choices.map(
      ({ value, text }) =>
        html`<option value="${value}"${attributeIf(value === fields[name], 'selected')}>${text}</option>`,
    )}</select></div>`
  return html`<form class="search" method="get" action="${base}/accounts" role="search">
<div class="whole"><label class="visually-hidden" for="q">Search accounts</label><input id="q" name="q" type="search" value="${fields.q}" placeholder="Part of an e-mail or name, or an ID" maxlength="${queryLengthMax}" autocomplete="off"></div>
${select('role', 'Role', 'Any role', named(roles, 'role'))}${
  (plans.length > 0 || fields.plan !== '') &&
  select('plan', 'Plan', 'Any plan', [{ value: noPlan, text: 'No plan' }, ...named(plans, 'plan')])
}${select('disabled', 'State', 'Any state', [
  { value: 'false', text: 'Enabled' },
  { value: 'true', text: 'Disabled' },
])}${select('active', 'Last active', 'Any activity', activityChoices)}${select(
  'sort',
  'Order',
  fields.q === '' ? 'Newest first' : 'Best matches first',
  [
    ...(fields.q === '' ? [] : [{ value: 'newest', text: 'Newest first' }]),
    { value: 'oldest', text: 'Oldest first' },
    { value: 'email', text: 'By e-mail' },
  ],
)}
<button>${icon('search')}Search</button>${isNarrowed(fields) && html`<a class="button" href="${base}/accounts">Clear</a>`}</form>`
}

/** What can be done to several accounts at once. */
export const severalActions = [
  { value: 'disable', text: 'Disable' },
  { value: 'enable', text: 'Enable' },
  { value: 'role', text: 'Change the role' },
  { value: 'plan', text: 'Change the plan' },
] as const

export type SeveralAction = (typeof severalActions)[number]['value']

/** The table is a form: what is ticked can be changed together. */
function listForm(frame: PageFrame, { items, fields }: AccountListView): Html {
  const { plans } = frame
  const hasPlans = plans.length > 0 || items.some(({ plan }) => plan !== undefined)
  const actions = severalActions.filter(({ value }) => value !== 'plan' || hasPlans)
  return form(frame, {
    action: '/accounts/several',
    class: 'list',
    body: html`<input type="hidden" name="list" value="${searchOf(fields)}">
<table class="accounts">${headings(frame, fields, hasPlans)}
<tbody>${items.map((account, index) => row(frame, account, { index, hasPlans }))}</tbody></table>
<footer><label class="check" data-tick-all hidden><input type="checkbox">All on this page</label><label for="action">With the ticked accounts</label><select id="action" name="action">${actions.map(
      ({ value, text }) => html`<option value="${value}">${text}</option>`,
    )}</select><button>Continue…</button></footer>`,
  })
}

function headings({ base }: PageFrame, fields: ListFields, hasPlans: boolean): Html {
  const sorted = (text: string, sort: string, direction: 'ascending' | 'descending' | undefined) =>
    html`<th scope="col"${direction !== undefined && html` aria-sort="${direction}"`}><a href="${base}/accounts${searchOf({ ...fields, sort })}">${text}</a></th>`
  const isByTime = fields.sort === 'newest' || (fields.sort === '' && fields.q === '')
  const byTime = isByTime ? 'descending' : fields.sort === 'oldest' ? 'ascending' : undefined
  const newest = fields.q === '' ? '' : 'newest'
  return html`<thead><tr><th class="tick" scope="col"><span class="visually-hidden">Ticked</span></th>${sorted(
    'Account',
    'email',
    fields.sort === 'email' ? 'ascending' : undefined,
  )}<th scope="col">Role</th>${hasPlans && html`<th scope="col">Plan</th>`}<th scope="col">State</th><th scope="col">Last active</th>${sorted(
    'Created',
    isByTime ? 'oldest' : newest,
    byTime,
  )}</tr></thead>`
}

function row(
  frame: PageFrame,
  account: ListedAccount,
  { index, hasPlans }: { readonly index: number; readonly hasPlans: boolean },
): Html {
  const { id, email, role, plan, createdAt, lastActiveDay } = account
  const name = fullName(account)
  const { base, viewer } = frame
  const isOwn = id === viewer?.id
  // Admins cannot disable or demote themselves.
  const tick = isOwn
    ? html``
    : html`<input type="checkbox" name="id${index}" value="${id}" aria-label="Tick ${email}">`
  return html`<tr><td class="tick">${tick}</td><td><div><a class="name" href="${base}/accounts/${id}">${email}</a>${isOwn && html` ${badge('plain', 'You')}`}${name !== '' && html`<span class="sub">${name}</span>`}</div></td>
${cell('Role', html`${role}`)}${hasPlans && cell('Plan', plan === undefined ? none : html`${plan}`)}${cell('State', stateBadge(frame, account))}${cell('Last active', activity(lastActiveDay, frame.now))}${cell('Created', time(createdAt, frame))}</tr>`
}

const none = html`<span class="muted">–</span>`

/** Only the day is known. */
function activity(day: number | undefined, now: number): Html {
  if (day === undefined) return html`<span class="muted">Never</span>`
  const ago = dayOf(now) - day
  const text = ago <= 0 ? 'Today' : ago === 1 ? 'Yesterday' : ago <= 30 ? `${ago} days ago` : formatDay(day)
  return html`<span class="day" title="${formatDay(day)} (UTC)">${text}</span>`
}

function noAccounts({ base }: PageFrame, { fields, nextCursor }: AccountListView): Html {
  if (!isNarrowed(fields) && nextCursor === undefined) {
    return emptyState({
      icon: icon('accounts'),
      title: 'No accounts yet',
      text: 'Create one, or import a file.',
    })
  }
  return nextCursor !== undefined
    ? emptyState({
        icon: icon('search'),
        title: 'No matches yet',
        text: 'There are too many accounts to search at once. Continue where this page ended.',
      })
    : emptyState({
        icon: icon('search'),
        title: 'No matches',
        text: html`No account has all of this. <a href="${base}/accounts">Show all accounts</a>`,
      })
}
