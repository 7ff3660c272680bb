import { emailLengthMax } from '../../accounts/account-input.ts'
import { formatDuration } from '../../pages/format.ts'
import { attributeIf, type Html, html } from '../../pages/html.ts'
import { icon } from '../../pages/icons.ts'
import { emptyState } from '../../pages/notice.ts'
import { exactTime } from '../../pages/time.ts'
import {
  type Actor,
  type AuditAction,
  type AuditFilter,
  auditActions,
  type LoggedAuditEntry,
} from '../../store/audit-entry.ts'
import type { PageFrame } from './frame.ts'
import { page } from './page.ts'

export interface AuditView {
  readonly filter: AuditFilter
  readonly entries: readonly LoggedAuditEntry[]
  /** `before` for the next page. */
  readonly before: string | undefined
  readonly isFirstPage: boolean
}

/** Who did what to whom, when and from where. */
export function auditPage(frame: PageFrame, view: AuditView): Html {
  const { base } = frame
  const { entries, filter } = view
  const exportLink = (format: string, name: string) =>
    html`<a class="button" href="${base}/audit/export?${queryString(filter, { format })}" download>${icon('download')}${name}</a>`
  return page(frame, {
    title: 'Audit',
    section: '/audit',
    lead: 'Who did what to whom, when and from where. Entries cannot be changed.',
    actions: html`${exportLink('csv', 'CSV')}${exportLink('jsonl', 'JSON lines')}`,
    body: html`${filterForm(frame, filter)}
<section class="card" aria-label="Entries">${
      entries.length === 0
        ? emptyState({ icon: icon('audit'), title: 'No entries', text: filterText(filter) })
        : table(frame, entries)
    }</section>${pager(frame, view)}`,
  })
}

function filterText({ who }: AuditFilter): string {
  return who === undefined
    ? 'Nothing that fits has happened yet.'
    : 'Nothing that fits has happened yet. “Who” takes the whole e-mail or ID.'
}

function filterForm({ base }: PageFrame, { action, who }: AuditFilter): Html {
  return html`<form class="search" method="get" action="${base}/audit" role="search">
<div class="grow"><label class="unseen" for="who">Who</label><input id="who" name="who" type="search" value="${who ?? ''}" placeholder="Whole e-mail or ID" maxlength="${emailLengthMax}" autocomplete="off"></div>
<div><label class="unseen" for="action">What</label><select id="action" name="action"><option value="">Everything</option>${auditActions.map(
    (name) =>
      html`<option value="${name}"${attributeIf(name === action, 'selected')}>${describeAction(name)}</option>`,
  )}</select></div><button>Filter</button></form>`
}

function table(frame: PageFrame, entries: readonly LoggedAuditEntry[]): Html {
  return html`<table><thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">Whom</th></tr></thead><tbody>${entries.map(
    (entry) => row(frame, entry),
  )}</tbody></table>`
}

function row({ base }: PageFrame, entry: LoggedAuditEntry): Html {
  const { at, actor, target } = entry
  const { what, more } = describeEntry(entry)
  return html`<tr><td data-label="When"><div>${exactTime(at)}</div></td><td data-label="Who"><div>${actorCell(actor)}</div></td>
<td data-label="What"><div>${what}${more !== '' && html`<span class="sub">${more}</span>`}</div></td>
<td data-label="Whom"><div>${
    target
      ? html`<a href="${base}/accounts/${target.id}">${target.email}</a>`
      : html`<span class="muted">–</span>`
  }</div></td></tr>`
}

function describeDetail([name, value]: [string, string | number | boolean]): string {
  if (name === 'isVerified') return value ? 'e-mail marked as verified' : 'e-mail marked as not verified'
  if (name !== 'graceSeconds') return `${name}: ${value}`
  return value === 0 ? 'without overlap' : `overlap of ${formatDuration(Number(value))}`
}

function actorCell(actor: Actor): Html {
  switch (actor.kind) {
    case 'account':
      return html`${actor.email}<span class="sub">${actor.address} · ${actor.channel === 'api' ? 'admin API' : 'portal'}</span>`
    case 'operator':
      return html`${actor.name}<span class="sub">command line</span>`
    case 'system':
      return html`Gatehouse`
    default:
      return actor satisfies never
  }
}

/** Such as `API secret reset`: in the words of the other pages. */
function describeAction(action: AuditAction): string {
  const text = action
    .replaceAll('-', ' ')
    .replace('secret key', 'API secret')
    .replace('api key', 'API key')
    .replace('setup link', 'set-up link')
    .replace('email', 'e-mail')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const keyNames: Readonly<Record<string, string>> = { secretKey: 'API secret', apiKey: 'API key' }

/** What was done, using a detail if it says it better, such as `Account disabled`; and the other details. */
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

function pager({ base }: PageFrame, { filter, before, isFirstPage }: AuditView): Html | undefined {
  if (isFirstPage && before === undefined) return undefined
  return html`<nav class="pager" aria-label="Pages">${
    isFirstPage
      ? html`<span></span>`
      : html`<a class="button" href="${base}/audit?${queryString(filter)}">Newest</a>`
  }${before !== undefined && html`<a class="button" rel="next" href="${base}/audit?${queryString(filter, { before })}">Older</a>`}</nav>`
}

function queryString({ who, action }: AuditFilter, more: Readonly<Record<string, string>> = {}): string {
  return new URLSearchParams({
    ...(who !== undefined && { who }),
    ...(action !== undefined && { action }),
    ...more,
  }).toString()
}
