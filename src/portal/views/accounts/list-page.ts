import { noPlan } from '#accounts/account-input.ts'
import { queryLengthMax } from '#accounts/account-query.ts'
import { time } from '#platform/pages/format.ts'
import { badge, emptyState, type Html, html, icon, staticNotice } from '#platform/pages/html.ts'
import { dayOf, formatDay } from '#platform/time.ts'
import type { ListedAccount } from '#store/accounts.ts'
import { type Choice, form, hidden, options } from '../form.ts'
import type { PageFrame } from '../frame.ts'
import { page } from '../layout.ts'
import { cell, pager } from '../parts.ts'
import { accountCell, stateBadge } from './account-forms.ts'

/** The fields of the search form, by their names in the URL; '' = does not narrow the list. */
export const listFieldNames = ['q', 'role', 'plan', 'disabled', 'active', 'sort'] as const

export type ListFields = Readonly<Record<(typeof listFieldNames)[number], string>>

interface AccountListView {
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
export function accountListPage(frame: PageFrame, view: AccountListView): Html {
  const { base, issuers } = frame
  const texts = frame.texts.accountList
  const title = frame.texts.layout.sections['/accounts']
  const { items, error, fields } = view
  return page(frame, {
    title,
    section: '/accounts',
    lead: countText(frame, view),
    actions: html`${issuers.length > 0 && html`<a class="button" href="${base}/subjects">${frame.texts.subjects.title}</a>`}<a class="button" href="${base}/accounts/export${searchOf(fields)}" download>${icon('download')}CSV</a><a class="button" href="${base}/accounts/import">${icon('upload')}${texts.import}</a><a class="button primary" href="${base}/accounts/new">${icon('plus')}${frame.texts.accounts.new.title}</a>`,
    body: html`${searchForm(frame, fields)}
${error !== undefined && staticNotice('bad', error)}
<section class="card" aria-label="${title}">${items.length === 0 ? noAccounts(frame, view) : listForm(frame, view)}</section>
${pager(frame, {
  ...view,
  texts: [
    frame.texts.accounts.firstPage,
    isCutShort(view) ? texts.continueSearch : frame.texts.accounts.nextPage,
  ],
  hrefOf: (cursor) => `${base}/accounts${searchOf(fields, cursor)}`,
})}`,
  })
}

function isNarrowed({ sort: _, ...others }: ListFields): boolean {
  return Object.values(others).some((value) => value !== '')
}

/** Whether the page is not full because the search was interrupted, and can be continued. */
function isCutShort({ fields, items, nextCursor }: AccountListView): boolean {
  return isNarrowed(fields) && nextCursor !== undefined && items.length < accountsPerPage
}

/** How many accounts a page shows, and how many can be changed at once. */
export const accountsPerPage = 25

function countText(
  { texts: { accountList } }: PageFrame,
  { fields, count, items, nextCursor, isFirstPage }: AccountListView,
): string {
  if (!isNarrowed(fields)) return accountList.all(count)
  const isWhole = isFirstPage && nextCursor === undefined
  return isWhole ? accountList.found(items.length, count) : accountList.foundMore(count)
}

/** The query string of a list with these fields. */
export function searchOf(fields: ListFields, cursor?: string): string {
  const given = Object.entries({ ...fields, cursor: cursor ?? '' }).filter(([, value]) => value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

/** The choices of the filter by activity: active within so many days, or idle for so long. */
export const activityChoices = [
  { value: '7', days: 7, isActive: true },
  { value: '30', days: 30, isActive: true },
  { value: 'not-30', days: 30, isActive: false },
  { value: 'not-90', days: 90, isActive: false },
  { value: 'not-365', days: 365, isActive: false },
] as const

function searchForm(
  { base, roles, plans, texts: { accounts, accountList: texts } }: PageFrame,
  fields: ListFields,
): Html {
  const named = (names: readonly string[], name: 'role' | 'plan') =>
    [...new Set([...names, ...(fields[name] === '' || fields[name] === noPlan ? [] : [fields[name]])])].map(
      (value) => ({ value, text: value }),
    )
  const select = (name: keyof ListFields, label: string, any: string, choices: readonly Choice[]) =>
    html`<div><label class="visually-hidden" for="${name}">${label}</label><select id="${name}" name="${name}"><option value="">${any}</option>${options(choices, fields[name])}</select></div>`
  return html`<form class="search" method="get" action="${base}/accounts" role="search">
<div class="whole"><label class="visually-hidden" for="q">${texts.search}</label><input id="q" name="q" type="search" value="${fields.q}" placeholder="${texts.searchHint}" maxlength="${queryLengthMax}" autocomplete="off"></div>
${select('role', accounts.role, texts.anyRole, named(roles, 'role'))}${
  (plans.length > 0 || fields.plan !== '') &&
  select('plan', accounts.plan, texts.anyPlan, [
    { value: noPlan, text: texts.noPlan },
    ...named(plans, 'plan'),
  ])
}${select('disabled', accounts.state, texts.anyState, [
  { value: 'false', text: texts.enabled },
  { value: 'true', text: accounts.disabled },
])}${select(
  'active',
  texts.lastActive,
  texts.anyActivity,
  activityChoices.map(({ value }) => ({ value, text: texts.activities[value] })),
)}${select('sort', texts.order, fields.q === '' ? texts.newestFirst : texts.bestFirst, [
  ...(fields.q === '' ? [] : [{ value: 'newest', text: texts.newestFirst }]),
  { value: 'oldest', text: texts.oldestFirst },
  { value: 'email', text: texts.byEmail },
])}
<button>${icon('search')}${texts.submit}</button>${isNarrowed(fields) && html`<a class="button" href="${base}/accounts">${texts.clear}</a>`}</form>`
}

/** What can be done to several accounts at once. */
export const severalActions = ['disable', 'enable', 'role', 'plan'] as const

export type SeveralAction = (typeof severalActions)[number]

/** The table is a form: the accounts that are ticked can be changed together. */
function listForm(frame: PageFrame, { items, fields }: AccountListView): Html {
  const { plans } = frame
  const texts = frame.texts.accountList
  const hasPlans = plans.length > 0 || items.some(({ plan }) => plan !== undefined)
  const actions = severalActions.filter((action) => action !== 'plan' || hasPlans)
  return form(frame, {
    action: '/accounts/several',
    class: 'list',
    body: html`${hidden({ list: searchOf(fields) })}
<table class="accounts">${headings(frame, fields, hasPlans)}
<tbody>${items.map((account, index) => row(frame, account, { index, hasPlans }))}</tbody></table>
<footer><label class="check" data-tick-all hidden><input type="checkbox">${texts.tickAll}</label><label for="action">${texts.withTicked}</label><select id="action" name="action">${actions.map(
      (action) => html`<option value="${action}">${frame.texts.severalAccounts[action].action}</option>`,
    )}</select><button>${texts.continue}</button></footer>`,
  })
}

function headings(
  { base, texts: { accounts, accountList, parts } }: PageFrame,
  fields: ListFields,
  hasPlans: boolean,
): Html {
  const sorted = (text: string, sort: string, direction: 'ascending' | 'descending' | undefined) =>
    html`<th scope="col"${direction !== undefined && html` aria-sort="${direction}"`}><a href="${base}/accounts${searchOf({ ...fields, sort })}">${text}</a></th>`
  const isByTime = fields.sort === 'newest' || (fields.sort === '' && fields.q === '')
  const byTime = isByTime ? 'descending' : fields.sort === 'oldest' ? 'ascending' : undefined
  const newest = fields.q === '' ? '' : 'newest'
  return html`<thead><tr><th class="tick" scope="col"><span class="visually-hidden">${accountList.ticked}</span></th>${sorted(
    accounts.account,
    'email',
    fields.sort === 'email' ? 'ascending' : undefined,
  )}<th scope="col">${accounts.role}</th>${hasPlans && html`<th scope="col">${accounts.plan}</th>`}<th scope="col">${accounts.state}</th><th scope="col">${accountList.lastActive}</th>${sorted(
    parts.created,
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
  const { accounts, accountList, parts } = frame.texts
  const isOwn = id === frame.viewer?.id
  // Admins cannot disable or demote themselves.
  const tick = isOwn
    ? html``
    : html`<input type="checkbox" name="id${index}" value="${id}" aria-label="${accountList.tick(email)}">`
  return html`<tr><td class="tick">${tick}</td>${accountCell(frame, account, isOwn && html` ${badge('plain', accounts.you)}`)}
${cell(accounts.role, role)}${hasPlans && cell(accounts.plan, plan ?? none)}${cell(accounts.state, stateBadge(frame, account))}${cell(accountList.lastActive, activity(frame, lastActiveDay))}${cell(parts.created, time(createdAt, frame))}</tr>`
}

const none = html`<span class="muted">–</span>`

/** When an account was last active, of which only the day is known. */
function activity(frame: PageFrame, day: number | undefined): Html {
  if (day === undefined) return html`<span class="muted">${frame.texts.parts.never}</span>`
  return html`<span class="day" title="${formatDay(day)} (UTC)">${dayText(frame, day)}</span>`
}

function dayText({ now, locale, texts: { accountList } }: PageFrame, day: number): string {
  const ago = dayOf(now) - day
  if (ago <= 0) return accountList.today
  if (ago === 1) return accountList.yesterday
  return ago <= 30 ? locale.relative(-ago, 'day') : formatDay(day)
}

function noAccounts(
  { base, texts: { accountList } }: PageFrame,
  { fields, nextCursor }: AccountListView,
): Html {
  if (!isNarrowed(fields) && nextCursor === undefined) {
    return emptyState({ icon: icon('accounts'), ...accountList.none })
  }
  return nextCursor !== undefined
    ? emptyState({ icon: icon('search'), ...accountList.noneYet })
    : emptyState({
        icon: icon('search'),
        title: accountList.noMatches.title,
        text: accountList.noMatches.text(`${base}/accounts`),
      })
}
