import { emailLengthMax, noPlan } from '#accounts/account-input.ts'
import { exactTime } from '#platform/pages/format.ts'
import { type Content, emptyState, type Html, html, icon } from '#platform/pages/html.ts'
import { dayMs, dayOf, formatDay } from '#platform/time.ts'
import type { FoundAudit } from '#store/audit.ts'
import { type Actor, type AuditFilter, auditActions, type LoggedAuditEntry } from '#store/audit-entry.ts'
import { options } from './form.ts'
import type { PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { cell, pager, titleRow } from './parts.ts'

interface AuditView extends FoundAudit {
  readonly filter: AuditFilter
  readonly isFirstPage: boolean
}

/** The audit log: actor, action, target, time and address. */
export function auditPage(frame: PageFrame, view: AuditView): Html {
  const { base } = frame
  const { audit: texts, parts } = frame.texts
  const { entries, filter, before, isFirstPage } = view
  const exportLink = (format: string, name: string) =>
    html`<a class="button" href="${base}/audit/export?${queryString(filter, { format })}" download>${icon('download')}${name}</a>`
  return page(frame, {
    title: frame.texts.layout.sections['/audit'],
    section: '/audit',
    lead: texts.lead,
    actions: html`<a class="button" href="${base}/events">${frame.texts.events.title}</a>${exportLink('csv', 'CSV')}${exportLink('jsonl', 'JSON Lines')}`,
    body: html`${filterForm(frame, filter)}
<section class="card" aria-label="${texts.entries}">${
      entries.length === 0
        ? emptyState({ icon: icon('audit'), title: texts.none, text: filterText(frame, filter) })
        : table(frame, entries)
    }</section>${pager(frame, {
      isFirstPage,
      nextCursor: before,
      texts: [parts.newest, parts.older],
      hrefOf: (cursor) =>
        `${base}/audit?${queryString(filter, cursor === undefined ? {} : { before: cursor })}`,
    })}`,
  })
}

function filterText({ texts: { audit } }: PageFrame, { part }: AuditFilter): string {
  return part === undefined ? audit.noneMatching : audit.noneWith(part)
}

/** The day of a time in the format of a date field. */
function dayText(at: number | undefined): string {
  return at === undefined ? '' : formatDay(dayOf(at))
}

/** The last day that a filter shows. */
function lastDayText({ until }: AuditFilter): string {
  return dayText(until === undefined ? undefined : until - dayMs)
}

function filterForm({ base, texts: { audit } }: PageFrame, filter: AuditFilter): Html {
  const { action, part, from } = filter
  return html`<form class="search" method="get" action="${base}/audit" role="search">
<div class="whole"><label class="visually-hidden" for="who">${audit.who}</label><input id="who" name="who" type="search" value="${part ?? ''}" placeholder="${audit.whoHint}" maxlength="${emailLengthMax}" autocomplete="off"></div>
<div><label class="visually-hidden" for="action">${audit.columns.action}</label><select id="action" name="action"><option value="">${audit.allActions}</option>${options(
    auditActions.map((value) => ({ value, text: audit.describeAction(value) })),
    action,
  )}</select></div>
<div><label for="from">${audit.from}</label><input id="from" name="from" type="date" value="${dayText(from)}"></div>
<div><label for="to">${audit.to}</label><input id="to" name="to" type="date" value="${lastDayText(filter)}"></div><button>${audit.filter}</button></form>`
}

function table(frame: PageFrame, entries: readonly LoggedAuditEntry[]): Html {
  return html`<table class="audit">${titleRow(Object.values(frame.texts.audit.columns))}<tbody>${entries.map(
    (entry) => row(frame, entry),
  )}</tbody></table>`
}

function row(frame: PageFrame, entry: LoggedAuditEntry): Html {
  const { at, actor, target } = entry
  const { columns } = frame.texts.audit
  const { what, more } = describeEntry(frame, entry)
  const account = target
    ? html`<a href="${frame.base}/accounts/${target.id}">${target.email}</a>`
    : html`<span class="muted">–</span>`
  return html`<tr>${[
    cell(columns.time, exactTime(at)),
    cell(columns.actor, actorCell(frame, actor)),
    cell(columns.action, html`${what}${more.length > 0 && html`<span class="sub">${more}</span>`}`),
    cell(columns.target, account),
  ]}</tr>`
}

type Detail = string | number | boolean

function describeDetail({ texts: { audit } }: PageFrame, [name, value]: [string, Detail]): Content {
  if (name === 'expiresAt') return audit.expires(timeOf(value))
  return audit.describeDetail(name, name === 'plan' && value === noPlan ? '' : value)
}

function timeOf(value: Detail): Content {
  const at = new Date(value === true || value === false ? Number.NaN : value)
  return Number.isNaN(at.getTime()) ? String(value) : exactTime(at.getTime())
}

function actorCell({ texts: { audit } }: PageFrame, actor: Actor): Html {
  switch (actor.kind) {
    case 'account':
      return html`${actor.email}<span class="sub">${actor.address} · ${audit.channels[actor.channel]}</span>`
    case 'operator':
      return html`${actor.name}<span class="sub">${audit.commandLine}</span>`
    case 'holder':
      return html`${audit.keyHolder}<span class="sub">${actor.address}</span>`
    case 'system':
      return html`${audit.gateway}`
    default:
      return actor satisfies never
  }
}

/** The action, made more specific by a detail if there is one, such as `Account disabled`; and the other details. */
function describeEntry(
  frame: PageFrame,
  { action, details }: LoggedAuditEntry,
): { readonly what: string; readonly more: readonly Content[] } {
  const { audit } = frame.texts
  const { isDisabled, key, ...rest } = details
  if (action === 'account-updated' && isDisabled !== undefined) {
    const what = isDisabled ? audit.accountDisabled : audit.accountEnabled
    return { what, more: describeDetails(frame, rest) }
  }
  if (action === 'key-revealed' && (key === 'secretKey' || key === 'apiKey'))
    return { what: audit.keyRevealed[key], more: describeDetails(frame, rest) }
  return { what: audit.describeAction(action), more: describeDetails(frame, details) }
}

function describeDetails(frame: PageFrame, details: LoggedAuditEntry['details']): readonly Content[] {
  return Object.entries(details)
    .filter(([, value]) => value !== '')
    .map((detail, index) => [index > 0 && ', ', describeDetail(frame, detail)])
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
