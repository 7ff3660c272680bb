import { emailLengthMax, noPlan } from '#accounts/account-input.ts'
import { exactTime, formatDuration } from '#platform/pages/format.ts'
import { attributeIf, type Content, type Html, html } from '#platform/pages/html.ts'
import { emptyState, icon } from '#platform/pages/parts.ts'
import { dayMs, dayOf, formatDay } from '#platform/time.ts'
import {
  type Actor,
  type AuditAction,
  type AuditFilter,
  auditActions,
  type LoggedAuditEntry,
} from '#store/audit-entry.ts'
import type { PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { pager, titleRow } from './parts.ts'

interface AuditView {
  readonly filter: AuditFilter
  readonly entries: readonly LoggedAuditEntry[]
  /** `before` for the next page. */
  readonly before: string | undefined
  readonly isFirstPage: boolean
}

/** The audit log: actor, action, target, time and address. */
export function auditPage(frame: PageFrame, view: AuditView): Html {
  const { base } = frame
  const { entries, filter, before, isFirstPage } = view
  const exportLink = (format: string, name: string) =>
    html`<a class="button" href="${base}/audit/export?${queryString(filter, { format })}" download>${icon('download')}${name}</a>`
  return page(frame, {
    title: 'Audit',
    section: '/audit',
    lead: 'Changes to accounts, keys and sessions. Entries cannot be edited.',
    actions: html`<a class="button" href="${base}/events">Events</a>${exportLink('csv', 'CSV')}${exportLink('jsonl', 'JSON Lines')}`,
    body: html`${filterForm(frame, filter)}
<section class="card" aria-label="Entries">${
      entries.length === 0
        ? emptyState({ icon: icon('audit'), title: 'No entries', text: filterText(filter) })
        : table(frame, entries)
    }</section>${pager(frame, {
      isFirstPage,
      nextCursor: before,
      texts: ['Newest', 'Older'],
      hrefOf: (cursor) =>
        `${base}/audit?${queryString(filter, cursor === undefined ? {} : { before: cursor })}`,
    })}`,
  })
}

function filterText({ part }: AuditFilter): string {
  return part === undefined
    ? 'No matching entries.'
    : `No matching entries. No actor or target with “${part}” in its e-mail, ID or name did this.`
}

/** A day as the field of a form has it. */
function dayText(at: number | undefined): string {
  return at === undefined ? '' : formatDay(dayOf(at))
}

/** The last day that a filter shows. */
function lastDayText({ until }: AuditFilter): string {
  return dayText(until === undefined ? undefined : until - dayMs)
}

function filterForm({ base }: PageFrame, filter: AuditFilter): Html {
  const { action, part, from } = filter
  return html`<form class="search" method="get" action="${base}/audit" role="search">
<div class="whole"><label class="visually-hidden" for="who">Actor or target</label><input id="who" name="who" type="search" value="${part ?? ''}" placeholder="Part of an e-mail, ID or name" maxlength="${emailLengthMax}" autocomplete="off"></div>
<div><label class="visually-hidden" for="action">Action</label><select id="action" name="action"><option value="">All actions</option>${auditActions.map(
    (name) =>
      html`<option value="${name}"${attributeIf(name === action, 'selected')}>${describeAction(name)}</option>`,
  )}</select></div>
<div><label for="from">From (UTC)</label><input id="from" name="from" type="date" value="${dayText(from)}"></div>
<div><label for="to">To (UTC)</label><input id="to" name="to" type="date" value="${lastDayText(filter)}"></div><button>Filter</button></form>`
}

function table(frame: PageFrame, entries: readonly LoggedAuditEntry[]): Html {
  return html`<table class="audit">${titleRow(['Time', 'Actor', 'Action', 'Target'])}<tbody>${entries.map(
    (entry) => row(frame, entry),
  )}</tbody></table>`
}

function row({ base }: PageFrame, entry: LoggedAuditEntry): Html {
  const { at, actor, target } = entry
  const { what, more } = describeEntry(entry)
  return html`<tr><td data-label="Time"><div>${exactTime(at)}</div></td><td data-label="Actor"><div>${actorCell(actor)}</div></td>
<td data-label="Action"><div>${what}${more.length > 0 && html`<span class="sub">${more}</span>`}</div></td>
<td data-label="Target"><div>${
    target
      ? html`<a href="${base}/accounts/${target.id}">${target.email}</a>`
      : html`<span class="muted">–</span>`
  }</div></td></tr>`
}

type Detail = string | number | boolean

const detailTexts: Readonly<Record<string, (value: Detail) => Content>> = {
  isVerified: (value) => (value ? 'e-mail marked as verified' : 'e-mail marked as not verified'),
  isDisabled: (value) => (value ? 'disabled' : 'enabled'),
  graceSeconds: (value) =>
    value === 0 ? 'no grace period' : `grace period ${formatDuration(Number(value))}`,
  firstName: (value) => (value === '' ? 'first name removed' : `first name “${value}”`),
  lastName: (value) => (value === '' ? 'last name removed' : `last name “${value}”`),
  plan: (value) => (value === noPlan || value === '' ? 'no plan' : `plan ${value}`),
  email: (value) => `e-mail ${value}`,
  name: (value) => `key “${value}”`,
  passkey: (value) => `passkey “${value}”`,
  to: (value) => `now “${value}”`,
  kid: (value) => `key ID ${value}`,
  expiresAt: (value) => html`expires ${timeOf(value)}`,
  isNew: (value) => (value ? 'new address' : 'same address'),
  isMailed: (value) => (value ? 'sent by e-mail' : 'not sent by e-mail'),
  sessionId: (value) => `session ID ${value}`,
}

/** Such as `role Admin`; for names without a text of their own the words in them. */
function describeDetail([name, value]: [string, Detail]): Content {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return detailTexts[name]?.(value) ?? `${words} ${value}`
}

function timeOf(value: Detail): Content {
  const at = new Date(value === true || value === false ? Number.NaN : value)
  return Number.isNaN(at.getTime()) ? String(value) : exactTime(at.getTime())
}

function actorCell(actor: Actor): Html {
  switch (actor.kind) {
    case 'account':
      return html`${actor.email}<span class="sub">${actor.address} · ${actor.channel === 'api' ? 'admin API' : 'portal'}</span>`
    case 'operator':
      return html`${actor.name}<span class="sub">command line</span>`
    case 'holder':
      return html`Key holder<span class="sub">${actor.address}</span>`
    case 'system':
      return html`The gateway`
    default:
      return actor satisfies never
  }
}

/** Such as `Secret key reset`: the terms of the other pages. */
function describeAction(action: AuditAction): string {
  const text = action
    .replaceAll('-', ' ')
    .replace('api key', 'API key')
    .replace('setup link', 'set-up link')
    .replace('email', 'e-mail')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const keyNames: Readonly<Record<string, string>> = { secretKey: 'Secret key', apiKey: 'API key' }

/** The action, made more specific by a detail if there is one, such as `Account disabled`; and the other details. */
function describeEntry({ action, details }: LoggedAuditEntry): {
  readonly what: string
  readonly more: readonly Content[]
} {
  const { isDisabled, key, ...rest } = details
  const kind = keyNames[String(key)]
  if (action === 'account-updated' && isDisabled !== undefined) {
    return { what: isDisabled ? 'Account disabled' : 'Account enabled', more: describeDetails(rest) }
  }
  if (action === 'key-revealed' && kind !== undefined) {
    return { what: `${kind} revealed`, more: describeDetails(rest) }
  }
  return { what: describeAction(action), more: describeDetails(details) }
}

function describeDetails(details: LoggedAuditEntry['details']): readonly Content[] {
  return Object.entries(details).map((detail, index) => [index > 0 && ', ', describeDetail(detail)])
}

function queryString(filter: AuditFilter, more: Readonly<Record<string, string>> = {}): string {
  const { part, action, from, until } = filter
  return new URLSearchParams({
    ...(part !== undefined && { who: part }),
    ...(action !== undefined && { action }),
    ...(from !== undefined && { from: dayText(from) }),
    ...(until !== undefined && { to: lastDayText(filter) }),
    ...more,
  }).toString()
}
