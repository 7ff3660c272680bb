import type { QuotaUnit } from '#gateway/routes/route.ts'
import { type Content, html } from '#platform/pages/html.ts'
import { countIn } from './usage.ts'

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
  /** To copy. */
  keyName: (name: string) => `the key ${name}`,
  expires: (name: string, when: Content) => html`“${name}” expires ${when}.`,
  rotateInTime: 'Rotate a key to get a new one for as long again, while the old one still works.',
  columns: {
    name: 'Name',
    mayUse: 'May use',
    created: 'Created',
    lastUsed: 'Last used',
    expires: 'Expires',
  },
  neverUsed: 'Never',
  neverExpires: 'Never',
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
  /** Read out after what is done to it. */
  ofKey: (name: string) => ` key ${name}`,
  /** When an old key ends, by seconds from now. */
  endChoices: { 0: 'Now', 3600: 'In 1 hour', 86400: 'In 24 hours', 604800: 'In 7 days' },
  rotateSummary: 'Rotate…',
  rotateLead: 'Creates a new key with the same name, limits and lifetime.',
  oldEnds: 'The old key ends',
  rotate: 'Rotate',
  renameSummary: 'Rename…',
  newName: 'New name',
  newNameHint: 'The key itself stays the same. What it has used so far stays under the old name.',
  rename: 'Rename',
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
  name: 'Name',
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
  lifetime: 'Expires',
  /** When a new key expires, by days from now. */
  lifetimes: { 30: 'In 30 days', 90: 'In 90 days', 365: 'In a year' },
  withCertificate: 'With the certificate',
  chooseLifetime: 'Choose when the key expires.',
  noCertificates: 'This gateway accepts no certificates as keys (keys.accept).',
}
