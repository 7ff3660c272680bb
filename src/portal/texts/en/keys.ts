import { englishCarriers } from '#identity/carriers.ts'
import type { QuotaUnit } from '#identity/limits/plans.ts'
import { type Content, html } from '#platform/pages/html.ts'

/** What the cards of both keys say. */
const eachKey = (noun: string) => ({
  /** What its copy button copies. */
  name: `the ${noun}`,
  hideName: `Hide: the ${noun}`,
  reveal: `Reveal the ${noun}`,
  reset: `Reset the ${noun}`,
  resetSummary: `Reset the ${noun}…`,
  none: `There is no ${noun}: it was revoked.`,
  create: `Create a new ${noun}`,
  createSummary: `Create a new ${noun}…`,
  /** @param span how long the old key keeps working; undefined = it does not */
  replaced: (span: string | undefined) =>
    `New ${noun}. Copy it now; the old one ${span === undefined ? 'is revoked' : `keeps working for ${span}`}.`,
  shownHere: `Shown on this page only. Store the ${noun} where your programs read it.`,
  shownOnce: `Copy the ${noun} now: it is not stored and cannot be shown again.`,
})

export const keys = {
  secretKey: {
    ...eachKey('secret key'),
    title: 'Secret key',
    resetLead: 'Creates a new secret key. Choose how long the old one keeps working while you switch.',
  },
  /** @param places made from `carriers` */
  secretKeyLead: (places: string) =>
    html`Send it ${places} with each request. Keep it on servers. Documents of the interface also call it API secret or <code>SecretKey</code>.`,
  carriers: englishCarriers,
  apiKey: {
    ...eachKey('API key'),
    title: 'API key',
    resetLead:
      'Creates a new key. The old one stops working immediately; access tokens and sessions stay valid.',
  },
  apiKeyLead: 'Exchange it, with your secret key, for access tokens.',
  hide: 'Hide',
  reveal: 'Reveal',
  never: 'Never',
  usedFor: 'Used for',
  apiRequest: 'API request',
  accessToken: 'Access token',
  keepOld: 'Keep the old secret key for',
  revokeNow: 'Revoke now',
  revokeNowHint: '“Revoke now” also revokes the sessions and access tokens created with it.',
  confirmRevokeNow: 'Revoke now…',
  stillUsedRefused: 'Clients that still use the old secret key will be rejected.',
  twoValid: (until: Content) =>
    html`<strong>Two secret keys are valid.</strong> The old one expires ${until}.`,
  /** The key was revoked, but with an overlap, and without another in its place. */
  stillValid: (until: Content) =>
    html`<strong>The revoked secret key still works.</strong> It expires ${until}, or as soon as there is a new one.`,
  /** Such as `2 hours ago from 203.0.113.7`. */
  use: (when: string, address: string) => `${when} from ${address}`,
  unused: 'Not used: safe to revoke.',
  unusedSince: (use: string) => `Not used since the reset: safe to revoke. Last use before that: ${use}.`,
  inUse: (use: string) => `Still in use: last used ${use}.`,
  overlapOver: 'The old secret key has expired: only the new one works.',
  revokedOver: 'It has expired.',
  notRevealable: 'This key cannot be revealed. Reset it to get a new one.',
  chooseGrace: 'Choose how long the old secret key keeps working.',
}

export const furtherKeys = {
  title: 'Further keys',
  lead: 'A key for each program, limited to what it needs. Revoking one affects no other.',
  /** For Admins, who see the keys of others. */
  othersLead: 'A key for each program. Revoking one affects no other.',
  none: 'No further keys',
  onlyDefault: 'The secret key above is your only one.',
  created: (name: string) => `The key “${name}” is created. Copy it now: it is not shown again.`,
  /** @param span how long the old key keeps working; undefined = it does not */
  rotated: (name: string, span: string | undefined) =>
    `The key “${name}” is rotated; the old one ends ${span === undefined ? 'now' : `in ${span}`}. Copy it now: it is not shown again.`,
  /** What its copy button copies. */
  keyName: (name: string) => `the key ${name}`,
  expires: (name: string, when: Content) => html`“${name}” expires ${when}.`,
  rotateInTime: 'Rotate a key to get a new one for as long again, while the old one still works.',
  mayUse: 'May use',
  madeElsewhere: 'Made elsewhere',
  mayAll: 'All that the account may',
  mayNothing: 'Nothing: no route asks for these scopes only',
  /** @param more how many routes are not named */
  mayOnly: (routes: Content, more: number) => html`Only ${routes}${more > 0 && ` and ${more} more`}`,
  scopesOf: (scopes: readonly string[]) => `${scopes.length === 1 ? 'scope' : 'scopes'} ${scopes.join(', ')}`,
  onlyFrom: (addresses: string) => `only from ${addresses}`,
  quotaOf: (count: string, per: 'day' | 'month', unit: QuotaUnit) => `${countIn(count, unit)} a ${per}`,
  expired: 'Expired',
  ends: 'Ends',
  expiresSoon: 'Expires soon',
  /** Screen readers say it after the name of an action. */
  ofKey: (name: string) => ` key ${name}`,
  /** When an old key ends, by seconds from now. */
  endChoices: { 0: 'Now', 3600: 'In 1 hour', 86400: 'In 24 hours', 604800: 'In 7 days' },
  rotateSummary: 'Rotate…',
  rotateLead: 'Creates a new key with the same name, limits and lifetime.',
  oldEnds: 'The old key ends',
  rotate: 'Rotate',
  renameSummary: 'Rename…',
  newNameHint: 'The key itself stays the same. What it has used so far stays under the old name.',
  revokeSummary: 'Revoke…',
  revokeLead: 'Programs that use this key, and its access tokens, are refused from then on.',
  when: 'When',
  revoke: 'Revoke',
  createSummary: 'Create a key…',
  create: 'Create',
  certificateSummary: 'Use a certificate…',
  certificate: 'Certificate',
  certificateHint:
    'As PEM, without the private key, or its SHA-256 in hexadecimal. The program that has the key sends no other credential.',
  nameHint: 'Letters, digits, . _ and -, such as ci or backup.',
  scopes: 'Scopes',
  scopesHint: 'What it may do, separated by spaces; empty = all that you may.',
  scopeIsFor: (scope: string, routes: string) => html` <code>${scope}</code> is for ${routes}.`,
  addresses: 'Addresses',
  addressesHint: 'Where it may come from, such as 203.0.113.7 or 10.0.0.0/8; empty = anywhere.',
  quota: 'Quota',
  quotaHint: {
    requests: 'Requests per day or month (UTC), such as 1000/day; empty = as many as you may send.',
    units: 'Units per day or month (UTC), such as 1000/day; empty = as many as you may use.',
  },
  /** When a new key expires, by days from now. */
  lifetimes: { 30: 'In 30 days', 90: 'In 90 days', 365: 'In a year' },
  withCertificate: 'With the certificate',
  chooseLifetime: 'Choose when the key expires.',
  noCertificates: 'This gateway accepts no certificates as keys (keys.accept).',
}

export const usage = {
  ownLead: 'Requests that were forwarded for your account, per UTC day.',
  lead: (name: string) => `Requests that were forwarded for ${name}, per UTC day.`,
  plan: (name: string) => `Plan: ${name}`,
  unknownPlan: 'This plan no longer exists, so the account is not limited.',
  /** Such as `100 requests per minute`. */
  perUnit: (requests: string, unit: string) => `${countIn(requests, 'requests')} per ${unit}`,
  /** Such as `100 requests every 30 seconds`. */
  perSpan: (requests: string, span: string) => `${countIn(requests, 'requests')} every ${span}`,
  burst: (limit: string, requests: string) => `${limit}, in bursts of up to ${requests}.`,
  keyQuotas: 'Quotas of keys',
  usedToday: (used: string, limit: string, unit: QuotaUnit) => `${used} of ${limit} ${unit} used today (UTC)`,
  usedThisMonth: (used: string, limit: string, unit: QuotaUnit) =>
    `${used} of ${limit} ${unit} used this month (UTC)`,
  /** @param at such as `in 1 hour` */
  resetsOnDay: (at: Content) => html`Resets ${at} (00:00 UTC).`,
  /** @param day such as `1 Dec` */
  resetsInMonth: (at: Content, day: string) => html`Resets ${at} (${day}, 00:00 UTC).`,
  usedUp: 'Used up',
  nearlyUsedUp: 'Nearly used up',
  from: 'From',
  to: 'To',
  show: 'Show',
  days: 'Days',
  none: 'No requests on these days',
  noneHint: 'Requests appear here within a few seconds.',
  /** The days are as in ISO 8601. */
  sum: (requests: string, from: string, to: string, most: string) =>
    `${requests} requests from ${from} to ${to}, at most ${most} a day.`,
  sums: 'Keys and routes',
  sumsLead: 'A unit is the cost a backend reports; 1 by default.',
  columns: { key: 'Key', route: 'Route', requests: 'Requests', units: 'Units' },
  unknownKey: 'unknown',
}

const counted = {
  requests: { one: 'request', many: 'requests' },
  units: { one: 'unit', many: 'units' },
} as const

/** Such as `1 request`, `3 units`. @param count as it is shown */
function countIn(count: string, unit: QuotaUnit): string {
  const { one, many } = counted[unit]
  return `${count} ${count === '1' ? one : many}`
}
