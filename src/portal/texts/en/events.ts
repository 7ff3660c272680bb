import { type Content, html } from '#platform/pages/html.ts'

export const events = {
  title: 'Events',
  lead: 'Programs that are told what changes, and whether they accept it.',
  receivers: 'Receivers',
  receiversLead:
    'An event that is not accepted is tried again with growing pauses, and dropped after three days.',
  none: 'No receivers',
  noneHint: html`Name one under <code>events</code> in the config of the gateway.`,
  accepted: (receiver: string) => `${receiver} has accepted a test event.`,
  notAccepted: (receiver: string, error: string) => `${receiver} has not accepted the test event: ${error}`,
  receiver: 'Receiver',
  state: 'State',
  pending: 'Pending',
  dropped: 'Dropped',
  delivered: 'Delivered',
  never: 'Never',
  /** @param count written for people */
  moreThan: (count: string) => `More than ${count}`,
  test: 'Send a test event',
  retry: 'Retry now',
  new: 'New',
  nothingSent: 'Nothing was sent yet.',
  working: 'Working',
  failing: 'Failing',
  lastFailure: (at: Content) => html`Last failure ${at}`,
  nextTry: (at: Content) => html`Next try ${at}`,
}
