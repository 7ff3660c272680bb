import { emailLengthMax } from '#accounts/account-input.ts'
import { exactTime, formatDuration } from '#platform/pages/format.ts'
import { attributeIf, type Html, html } from '#platform/pages/html.ts'
import { emptyState, icon } from '#platform/pages/parts.ts'
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
    actions: html`${exportLink('csv', 'CSV')}${exportLink('jsonl', 'JSON Lines')}`,
    body: html`${filterForm(frame, filter)}
<section class="card" aria-label="Entries">${
      entries.length === 0
        ? emptyState({ icon: icon('audit'), title: 'No entries', text: filterText(filter) })
        : table(frame, entries)
    }</section>${pager({
      isFirstPage,
      nextCursor: before,
      texts: ['Newest', 'Older'],
      hrefOf: (cursor) =>
        `${base}/audit?${queryString(filter, cursor === undefined ? {} : { before: cursor })}`,
    })}`,
  })
}

function filterText({ who }: AuditFilter): string {
  return who === undefined
    ? 'No matching entries.'
    : 'No matching entries. The actor or target must be a complete e-mail or ID.'
}

function filterForm({ base }: PageFrame, { action, who }: AuditFilter): Html {
  return html`<form class="search" method="get" action="${base}/audit" role="search">
<div class="grow"><label class="visually-hidden" for="who">Actor or target</label><input id="who" name="who" type="search" value="${who ?? ''}" placeholder="Complete e-mail or ID" maxlength="${emailLengthMax}" autocomplete="off"></div>
<div><label class="visually-hidden" for="action">Action</label><select id="action" name="action"><option value="">All actions</option>${auditActions.map(
    (name) =>
      html`<option value="${name}"${attributeIf(name === action, 'selected')}>${describeAction(name)}</option>`,
  )}</select></div><button>Filter</button></form>`
}

function table(frame: PageFrame, entries: readonly LoggedAuditEntry[]): Html {
  return html`<table>${titleRow(['Time', 'Actor', 'Action', 'Target'])}<tbody>${entries.map((entry) =>
    row(frame, entry),
  )}</tbody></table>`
}

function row({ base }: PageFrame, entry: LoggedAuditEntry): Html {
  const { at, actor, target } = entry
  const { what, more } = describeEntry(entry)
  return html`<tr><td data-label="Time"><div>${exactTime(at)}</div></td><td data-label="Actor"><div>${actorCell(actor)}</div></td>
<td data-label="Action"><div>${what}${more !== '' && html`<span class="sub">${more}</span>`}</div></td>
<td data-label="Target"><div>${
    target
      ? html`<a href="${base}/accounts/${target.id}">${target.email}</a>`
      : html`<span class="muted">–</span>`
  }</div></td></tr>`
}

function describeDetail([name, value]: [string, string | number | boolean]): string {
  if (name === 'isVerified') return value ? 'e-mail marked as verified' : 'e-mail marked as not verified'
  if (name !== 'graceSeconds') return `${name}: ${value}`
  return value === 0 ? 'no grace period' : `grace period ${formatDuration(Number(value))}`
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
      return html`Gatehouse`
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
  readonly more: string
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

function describeDetails(details: LoggedAuditEntry['details']): string {
  return Object.entries(details).map(describeDetail).join(', ')
}

function queryString({ who, action }: AuditFilter, more: Readonly<Record<string, string>> = {}): string {
  return new URLSearchParams({
    ...(who !== undefined && { who }),
    ...(action !== undefined && { action }),
    ...more,
  }).toString()
}
