import { formatDuration } from '#platform/pages/format.ts'
import { type Content, html } from '#platform/pages/html.ts'
import type { AuditAction } from '#store/audit-entry.ts'

type Detail = string | number | boolean

/** Details by name; '' = none. */
const details: Readonly<Record<string, (value: Detail) => string>> = {
  isVerified: (value) => (value ? 'e-mail marked as verified' : 'e-mail marked as not verified'),
  isDisabled: (value) => (value ? 'disabled' : 'enabled'),
  graceSeconds: (value) =>
    value === 0 ? 'no grace period' : `grace period ${formatDuration(Number(value))}`,
  firstName: (value) => (value === '' ? 'first name removed' : `first name “${value}”`),
  lastName: (value) => (value === '' ? 'last name removed' : `last name “${value}”`),
  plan: (value) => (value === '' ? 'no plan' : `plan ${value}`),
  email: (value) => `e-mail ${value}`,
  name: (value) => `key “${value}”`,
  passkey: (value) => `passkey “${value}”`,
  to: (value) => `now “${value}”`,
  kid: (value) => `key ID ${value}`,
  isNew: (value) => (value ? 'new address' : 'same address'),
  isMailed: (value) => (value ? 'sent by e-mail' : 'not sent by e-mail'),
  takenOver: () => 'account taken over',
  isKnownClient: (value) => (value ? 'known browser' : 'unknown browser'),
  sessionId: (value) => `session ID ${value}`,
}

export const audit = {
  lead: 'Changes to accounts, keys and sessions. Entries cannot be edited.',
  entries: 'Entries',
  none: 'No entries',
  noneMatching: 'No matching entries.',
  noneWith: (part: string) =>
    `No matching entries. No actor or target with “${part}” in its e-mail, ID or name did this.`,
  who: 'Actor or target',
  whoHint: 'Part of an e-mail, ID or name',
  allActions: 'All actions',
  from: 'From (UTC)',
  to: 'To (UTC)',
  filter: 'Filter',
  columns: { time: 'Time', actor: 'Actor', action: 'Action', target: 'Target' },
  channels: { api: 'admin API', portal: 'portal' },
  commandLine: 'command line',
  keyHolder: 'Key holder',
  gateway: 'The gateway',
  /** Such as `Secret key reset`: the terms of the other pages. */
  describeAction: (action: AuditAction): string => {
    const text = action
      .replaceAll('-', ' ')
      .replace('api key', 'API key')
      .replace('setup link', 'set-up link')
      .replace('email', 'e-mail')
    return text.charAt(0).toUpperCase() + text.slice(1)
  },
  accountDisabled: 'Account disabled',
  accountEnabled: 'Account enabled',
  keyRevealed: { secretKey: 'Secret key revealed', apiKey: 'API key revealed' },
  /** Such as `role Admin`. A name without a text of its own is split into its words. */
  describeDetail: (name: string, value: Detail): string => {
    const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    return details[name]?.(value) ?? `${words} ${value}`
  },
  expires: (time: Content) => html`expires ${time}`,
}

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
  pending: 'Pending',
  dropped: 'Dropped',
  delivered: 'Delivered',
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

export const subjects = {
  title: 'Blocked users',
  lead: 'Users of other issuers whose tokens are refused on every route.',
  block: 'Block a user',
  issuer: 'Issuer',
  /** @param names of the issuers in the config, separated by commas */
  issuerHint: (names: string) => `Its name in the config: ${names}.`,
  noIssuerHint: 'Its name in the config.',
  subject: 'Subject',
  subjectHint:
    'The sub claim of their tokens. Logs and headers show it after the name of the issuer, percent-encoded.',
  consequence: 'All of the user’s tokens are refused, later ones too, and open WebSockets are closed.',
  submit: 'Block',
  user: 'User',
  blocked: 'Blocked',
  action: 'Action',
  unblock: (subject: string, issuer: string) =>
    html`Unblock<span class="visually-hidden"> ${subject} of ${issuer}</span>`,
  nobody: {
    title: 'Nobody is blocked',
    text: 'Users of other issuers have no account here. Block one to refuse their tokens before the issuer does.',
  },
}
