import type { ListedReceiver } from '#accounts/events/receiver-actions.ts'
import { formatCount, time } from '#platform/pages/format.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { badge, card, emptyState, icon, notice } from '#platform/pages/parts.ts'
import { form } from './form.ts'
import type { PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { cell, titleRow } from './parts.ts'

export interface EventsView {
  readonly receivers: readonly ListedReceiver[]
  /** The result of a test that was just made. */
  readonly tested?: { readonly receiver: string; readonly error: string | null } | undefined
}

const titles = ['Receiver', 'State', 'Pending', 'Dropped', 'Delivered']

/** The receivers of events, and whether they get them. */
export function eventsPage(frame: PageFrame, { receivers, tested }: EventsView): Html {
  return page(frame, {
    title: 'Events',
    section: '/audit',
    breadcrumb: { href: '/audit', text: 'Audit' },
    lead: 'Programs that are told what changes, and whether they accept it.',
    body: html`${tested && testNotice(tested)}${card({
      title: 'Receivers',
      lead: 'An event that is not accepted is tried again with growing pauses, and dropped after three days.',
      isFlush: true,
      body:
        receivers.length === 0
          ? emptyState({
              icon: icon('events'),
              title: 'No receivers',
              text: html`Name one under <code>events</code> in the config of the gateway.`,
            })
          : html`<table>${titleRow(titles)}${receivers.map((one) => receiverRows(frame, one))}</table>`,
    })}`,
  })
}

function testNotice({ receiver, error }: NonNullable<EventsView['tested']>): Html {
  return error === null
    ? notice('good', `${receiver} has accepted a test event.`, true)
    : notice('bad', `${receiver} has not accepted the test event: ${error}`, true)
}

function receiverRows(frame: PageFrame, receiver: ListedReceiver): Html {
  const never = html`<span class="muted">Never</span>`
  const { pending, hasMorePending, deliveredAt } = receiver
  return html`<tbody><tr>${[
    cell('Receiver', html`<span class="name">${receiver.receiver}</span>`),
    cell('State', stateOf(receiver, frame)),
    cell('Pending', html`${hasMorePending && 'More than '}${formatCount(pending)}`),
    cell('Dropped', html`${formatCount(receiver.dropped)}`),
    cell('Delivered', deliveredAt === null ? never : time(Date.parse(deliveredAt), frame)),
  ]}</tr><tr class="acts"><td colspan="${titles.length}"><div class="acts-list">${[
    actForm(frame, receiver, { action: '/events/test', text: 'Send a test event' }),
    receiver.state === 'failing' && actForm(frame, receiver, { action: '/events/retry', text: 'Retry now' }),
  ]}</div></td></tr></tbody>`
}

function stateOf({ state, failedAt, reason, nextAt }: ListedReceiver, frame: PageFrame): Html {
  if (state === 'new') return html`${badge('plain', 'New')}<span class="sub">Nothing was sent yet.</span>`
  const failed =
    failedAt !== null &&
    html`<span class="sub">Last failure ${time(Date.parse(failedAt), frame)}${reason !== null && `: ${reason}`}</span>`
  const next = nextAt !== null && html`<span class="sub">Next try ${time(Date.parse(nextAt), frame)}</span>`
  return html`${state === 'ok' ? badge('good', 'Working') : badge('bad', 'Failing')}${failed}${next}`
}

function actForm(
  frame: PageFrame,
  { id, receiver }: ListedReceiver,
  { action, text }: { readonly action: string; readonly text: string },
): Html {
  return form(frame, {
    action,
    class: 'inline',
    body: html`<input type="hidden" name="receiver" value="${id}"><button class="small">${text}<span class="visually-hidden">: ${receiver}</span></button>`,
  })
}
