import type { ListedReceiver } from '#accounts/events/receiver-actions.ts'
import { formatCount, time } from '#platform/pages/format.ts'
import { badge, card, emptyState, type Html, html, icon, notice } from '#platform/pages/html.ts'
import { form, hidden } from './form.ts'
import type { PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { actsRow, cell, titleRow } from './parts.ts'

export interface EventsView {
  readonly receivers: readonly ListedReceiver[]
  /** The result of a test that was just made. */
  readonly tested?: { readonly receiver: string; readonly error: string | null } | undefined
}

/** The receivers of events, and whether they get them. */
export function eventsPage(frame: PageFrame, { receivers, tested }: EventsView): Html {
  const { accounts, events: texts } = frame.texts
  const titles = [texts.receiver, accounts.state, texts.pending, texts.dropped, texts.delivered]
  return page(frame, {
    title: texts.title,
    section: '/audit',
    breadcrumb: { href: '/audit', text: frame.texts.layout.sections['/audit'] },
    lead: texts.lead,
    body: html`${tested && testNotice(frame, tested)}${card({
      title: texts.receivers,
      lead: texts.receiversLead,
      isFlush: true,
      body:
        receivers.length === 0
          ? emptyState({ icon: icon('events'), title: texts.none, text: texts.noneHint })
          : html`<table>${titleRow(titles)}${receivers.map((one) => receiverRows(frame, one, titles.length))}</table>`,
    })}`,
  })
}

function testNotice(
  { texts: { events } }: PageFrame,
  { receiver, error }: NonNullable<EventsView['tested']>,
): Html {
  return error === null
    ? notice('good', events.accepted(receiver), true)
    : notice('bad', events.notAccepted(receiver, error), true)
}

function receiverRows(frame: PageFrame, receiver: ListedReceiver, columns: number): Html {
  const { locale } = frame
  const { accounts, events: texts, parts } = frame.texts
  const never = html`<span class="muted">${parts.never}</span>`
  const { hasMorePending, deliveredAt } = receiver
  const pending = formatCount(receiver.pending, locale)
  return html`<tbody><tr>${[
    cell(texts.receiver, html`<span class="name">${receiver.receiver}</span>`),
    cell(accounts.state, stateOf(receiver, frame)),
    cell(texts.pending, hasMorePending ? texts.moreThan(pending) : pending),
    cell(texts.dropped, formatCount(receiver.dropped, locale)),
    cell(texts.delivered, deliveredAt === null ? never : time(Date.parse(deliveredAt), frame)),
  ]}</tr>${actsRow(columns, [
    actForm(frame, receiver, { action: '/events/test', text: texts.test }),
    receiver.state === 'failing' && actForm(frame, receiver, { action: '/events/retry', text: texts.retry }),
  ])}</tbody>`
}

function stateOf({ state, failedAt, reason, nextAt }: ListedReceiver, frame: PageFrame): Html {
  const texts = frame.texts.events
  if (state === 'new') return html`${badge('plain', texts.new)}<span class="sub">${texts.nothingSent}</span>`
  const failed =
    failedAt !== null &&
    html`<span class="sub">${texts.lastFailure(time(Date.parse(failedAt), frame))}${reason !== null && `: ${reason}`}</span>`
  const next =
    nextAt !== null && html`<span class="sub">${texts.nextTry(time(Date.parse(nextAt), frame))}</span>`
  return html`${state === 'ok' ? badge('good', texts.working) : badge('bad', texts.failing)}${failed}${next}`
}

function actForm(
  frame: PageFrame,
  { id, receiver }: ListedReceiver,
  { action, text }: { readonly action: string; readonly text: string },
): Html {
  return form(frame, {
    action,
    class: 'inline',
    body: html`${hidden({ receiver: id })}<button class="small">${text}<span class="visually-hidden">: ${receiver}</span></button>`,
  })
}
