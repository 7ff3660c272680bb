import type { ListedReceiver } from '#accounts/events/receiver-actions.ts'
import { type DefaultKeysStatus, noKey } from '#accounts/keys/default-keys.ts'
import type { SecretKeyStatus } from '#accounts/keys/secret-keys.ts'
import type { KeyQuotaUse, PlanUse } from '#accounts/usage/plan-reports.ts'
import { dayOf } from '#platform/time.ts'
import { translationOf } from '#portal/texts/texts.ts'
import type { FormState, PageFrame } from '#portal/views/frame.ts'
import type { Account } from '#store/accounts.ts'
import type { LoggedAuditEntry } from '#store/audit-entry.ts'
import type { PortalSession } from '#store/portal.ts'
import type { SecondFactor } from '#store/portal-access.ts'
import type { Session } from '#store/sessions.ts'
import type { UsageCount } from '#store/usage.ts'
import { newPasskey } from '../store/portal-samples.ts'
import { newSecretKey } from '../store/samples.ts'

/** What the pages are looked at with: one moment, some people, and one whose everything is long. */

export const now = Date.UTC(2026, 10, 21, 14, 3, 22)
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

export function frame(over: Partial<PageFrame> = {}): PageFrame {
  return {
    base: '/portal',
    brand: 'Gatehouse',
    assets: { style: '', scripts: { en: '', de: '' }, logo: undefined },
    nonce: '',
    now,
    ...translationOf('en'),
    csrfToken: 'sample',
    viewer: { id: 'Kx3TbWq9ZrLm2VcA', email: 'ada@example.com', name: 'Ada Lovelace', isAdmin: false },
    roles: ['Admin', 'User'],
    canMailLinks: true,
    hasAccessCookie: false,
    plans: [],
    scopedRoutes: [
      { scopes: ['orders:read'], text: 'GET /orders' },
      { scopes: ['orders:write'], text: 'POST, PUT /orders' },
      { scopes: ['orders:read', 'orders:refund'], text: 'POST /orders/refunds' },
    ],
    quotaUnit: 'requests',
    issuers: ['corp'],
    notice: undefined,
    ...over,
  }
}

export function adminFrame(over: Partial<PageFrame> = {}): PageFrame {
  const viewer = { id: 'Pq8RsYd4NfHj6GtB', email: 'grace@example.com', name: 'Grace Hopper', isAdmin: true }
  return frame({ viewer, ...over })
}

/** An Admin's, who looks at the account of `account()`: their own. */
export function ownFrame(over: Partial<PageFrame> = {}): PageFrame {
  const viewer = { id: 'Kx3TbWq9ZrLm2VcA', email: 'ada@example.com', name: 'Ada Lovelace', isAdmin: true }
  return frame({ viewer, ...over })
}

const longWord = 'Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch'

export const longFrame = frame({
  brand: `${longWord}AG`,
  viewer: {
    id: 'Zz9ZzZz9ZzZz9ZzZ',
    email: `${longWord.toLowerCase()}@department.of.rather.long.names.example.com`,
    name: `${longWord} von der ${longWord}`,
    isAdmin: true,
  },
})

const use = (ago: number, scheme: 'secretKey' | 'accessToken' = 'secretKey') => ({
  at: now - ago,
  address: '203.0.113.24',
  scheme,
})

export const freshKeys: DefaultKeysStatus = {
  secretKey: { exists: true, createdAt: now - 30_000, lastUse: undefined, isRevealable: true },
  previousSecretKey: undefined,
  apiKey: { exists: true, createdAt: now - 30_000, lastUse: undefined, isRevealable: true },
}

export const usedKeys: DefaultKeysStatus = {
  secretKey: {
    exists: true,
    createdAt: now - 41 * day,
    lastUse: use(4 * minute),
    isRevealable: true,
    lastFour: 'b81K',
  },
  previousSecretKey: undefined,
  apiKey: {
    exists: true,
    createdAt: now - 200 * day,
    lastUse: use(3 * hour, 'accessToken'),
    isRevealable: true,
    lastFour: 'w2Qe',
  },
}

export const overlappingKeys: DefaultKeysStatus = {
  ...usedKeys,
  secretKey: { exists: true, createdAt: now - 2 * hour, lastUse: use(minute), isRevealable: true },
  previousSecretKey: {
    validUntil: now + 22 * hour,
    lastUse: { ...use(9 * minute), address: '2001:db8:85a3:8d3:1319:8a2e:370:7348' },
  },
}

/** Just after a reset. */
export const resetKeys: DefaultKeysStatus = {
  ...usedKeys,
  secretKey: { exists: true, createdAt: now - 200, lastUse: undefined, isRevealable: true },
  previousSecretKey: { validUntil: now + day, lastUse: use(9 * minute) },
}

export const unkeptKeys: DefaultKeysStatus = {
  ...usedKeys,
  secretKey: { ...usedKeys.secretKey, isRevealable: false },
  apiKey: { ...usedKeys.apiKey, isRevealable: false },
}

/** The default secret key was revoked; with an overlap, it still works. */
export const revokedKeys: DefaultKeysStatus = { ...usedKeys, secretKey: noKey }
export const endingKeys: DefaultKeysStatus = {
  ...revokedKeys,
  previousSecretKey: { validUntil: now + hour, lastUse: use(9 * minute) },
}

export function account(over: Partial<Account> = {}): Account {
  const key = { digest: new Uint8Array(32), sealed: undefined, createdAt: now - 41 * day }
  return {
    id: 'Kx3TbWq9ZrLm2VcA',
    email: 'ada@example.com',
    firstName: 'Ada',
    lastName: 'Lovelace',
    role: 'User',
    isVerified: true,
    isDisabled: false,
    createdAt: now - 200 * day,
    revision: 3,
    sessionEpoch: 1,
    roleEpoch: 1,
    secretKeys: [newSecretKey(key)],
    apiKey: key,
    plan: undefined,
    portal: {
      epoch: 1,
      password: undefined,
      failures: undefined,
      setupLink: undefined,
      resetLink: undefined,
      networks: [],
      secondFactor: undefined,
      emailLink: undefined,
      identities: [],
    },
    ...over,
  }
}

export const people: readonly Account[] = [
  account(),
  account({
    id: 'Pq8RsYd4NfHj6GtB',
    email: 'grace@example.com',
    firstName: 'Grace',
    lastName: 'Hopper',
    role: 'Admin',
  }),
  account({
    id: 'Bc5DfGh7JkLm9NpQ',
    email: 'billing-service@example.com',
    firstName: '',
    lastName: '',
    role: 'Service',
    createdAt: now - 12 * day,
  }),
  account({
    id: 'Rs2TvWx4YzAb6CdE',
    email: 'alan@example.com',
    firstName: 'Alan',
    lastName: 'Turing',
    isVerified: false,
    createdAt: now - 3 * hour,
  }),
  account({
    id: 'Fg8HjKl1MnPq3RsT',
    email: 'edsger@example.com',
    firstName: 'Edsger',
    lastName: 'Dijkstra',
    isDisabled: true,
  }),
]

export const longAccount = account({
  id: 'Zz9ZzZz9ZzZz9ZzZ',
  email: `${longWord.toLowerCase()}@department.of.rather.long.names.example.com`,
  firstName: longWord,
  lastName: `von der ${longWord}`,
  role: `Reader.of.${longWord}`.slice(0, 64),
})

export const sessions: readonly Session[] = [
  {
    id: 'hK2mQx8RtV5wYz1B',
    userAgent: 'node',
    address: '203.0.113.24',
    createdAt: now - 6 * day,
    rotatedAt: now - 4 * minute,
    acknowledgedAt: now - 4 * minute,
    keyId: '',
    generation: 812,
    expiresAt: now - 4 * minute + 7 * day,
  },
  {
    id: 'sD7fGj3KlP9nMb4C',
    userAgent: 'python-requests/2.32.3',
    address: '198.51.100.7',
    createdAt: now - 50_000,
    rotatedAt: now - 50_000,
    acknowledgedAt: now - 50_000,
    keyId: '',
    generation: 1,
    expiresAt: now - 50_000 + 7 * day,
  },
].map((session) => ({ ...session, accountId: 'Kx3TbWq9ZrLm2VcA', sessionEpoch: 1, end: undefined }))

export const portalSessions: readonly PortalSession[] = [
  {
    id: 'p1',
    userAgent:
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
    address: '203.0.113.24',
    createdAt: now - 2 * hour,
    seenAt: now - 10_000,
    expiresAt: now + 10 * hour,
  },
  {
    id: 'p2',
    userAgent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1',
    address: '2001:db8:85a3:8d3:1319:8a2e:370:7348',
    createdAt: now - 9 * hour,
    seenAt: now - 7 * hour,
    expiresAt: now + 3 * hour,
  },
].map((session) => ({ ...session, accountId: 'Kx3TbWq9ZrLm2VcA', digest: '', epoch: 1 }))

const grace = {
  kind: 'account',
  channel: 'portal',
  id: 'Pq8RsYd4NfHj6GtB',
  email: 'grace@example.com',
  address: '203.0.113.90',
} as const
const ada = { id: 'Kx3TbWq9ZrLm2VcA', email: 'ada@example.com' }

export const auditEntries: readonly LoggedAuditEntry[] = [
  {
    at: now - minute,
    actor: grace,
    action: 'secret-key-reset',
    target: ada,
    details: { graceSeconds: 86_400 },
  },
  { at: now - 3 * minute, actor: grace, action: 'account-updated', target: ada, details: { role: 'Editor' } },
  { at: now - 9 * minute, actor: grace, action: 'signed-in', target: grace, details: {} },
  {
    at: now - 2 * hour,
    actor: { ...grace, channel: 'api' },
    action: 'account-created',
    target: { id: 'Rs2TvWx4YzAb6CdE', email: 'alan@example.com' },
    details: {},
  },
  {
    at: now - 5 * hour,
    actor: { kind: 'operator', channel: 'cli', name: 'deploy' },
    action: 'signing-key-added',
    target: undefined,
    details: { kid: '2026-11' },
  },
  {
    at: now - 41 * day,
    actor: { kind: 'system', channel: 'system' },
    action: 'account-created',
    target: { id: grace.id, email: grace.email },
    details: { role: 'Admin' },
  },
].map((entry, index) => ({ ...entry, position: String(900 - index) }) as LoggedAuditEntry)

const isoTime = (at: number) => new Date(at).toISOString()

export const receivers: readonly ListedReceiver[] = [
  {
    id: 'one',
    receiver: 'https://hooks.example.com/gatehouse',
    state: 'ok',
    pending: 0,
    hasMorePending: false,
    dropped: 0,
    deliveredAt: isoTime(now - minute),
    failedAt: isoTime(now - 2 * day),
    reason: 'answered 503',
    nextAt: null,
  },
  {
    id: 'two',
    receiver: `https://${'siem.'.repeat(12)}example.com/a/rather/long/path/for/the/events/of/a/gateway`,
    state: 'failing',
    pending: 9_412,
    hasMorePending: true,
    dropped: 12,
    deliveredAt: null,
    failedAt: isoTime(now - minute),
    reason: 'connect ECONNREFUSED 203.0.113.7:443',
    nextAt: isoTime(now + minute),
  },
  {
    id: 'three',
    receiver: 'https://new.example.com/',
    state: 'new',
    pending: 0,
    hasMorePending: false,
    dropped: 0,
    deliveredAt: null,
    failedAt: null,
    reason: null,
    nextAt: null,
  },
]

export function refused(over: Partial<FormState>): FormState {
  return { values: {}, errors: {}, message: undefined, ...over }
}

const secret = '0123456789abcdefghijABCDEFGHIJ0123456789abc'
export const sampleKeys = {
  secretKey: `gate_sk_Kx3TbWq9ZrLm2VcA_${secret}_000000`,
  apiKey: `gate_ak_Kx3TbWq9ZrLm2VcA_${secret}_000000`,
}

export const sampleLink = {
  url: 'https://api.example.com/portal/setup#Kx3TbWq9ZrLm2VcA.0123456789abcdefghijABCDEFGHIJ0123456789abc',
  token: '',
  expiresAt: now + 15 * minute,
}

export const createdKey = { name: 'ci', key: `gate_sk_Kx3TbWq9ZrLm2VcA_${'a'.repeat(43)}_000000` }

export const furtherKeys: readonly SecretKeyStatus[] = [
  {
    name: 'ci',
    scopes: ['orders:read', 'orders:write'],
    addresses: ['203.0.113.0/24', '2001:db8::/48'],
    quota: { id: 'Kx3TbWq9', limit: 100_000, per: 'day' },
    createdAt: now - 3 * day,
    lastFour: '3fZa',
    expiresAt: now + 87 * day,
    revokedAt: undefined,
    isImported: false,
    state: 'valid',
    lastUse: { at: now - minute, address: '203.0.113.9', scheme: 'secretKey' },
  },
  {
    name: 'deploy',
    scopes: [],
    addresses: [],
    createdAt: now - 88 * day,
    lastFour: 'Q0x7',
    expiresAt: now + 2 * day,
    revokedAt: undefined,
    isImported: false,
    state: 'valid',
    lastUse: undefined,
  },
  {
    name: 'backup',
    scopes: [],
    addresses: [],
    createdAt: now - 100 * day,
    expiresAt: now - day,
    revokedAt: undefined,
    isImported: false,
    state: 'expired',
    lastUse: undefined,
  },
  {
    name: 'legacy.reporting-system-of-the-finance-department-2024',
    scopes: [],
    addresses: [],
    createdAt: now - 100 * day,
    expiresAt: undefined,
    revokedAt: now + day,
    isImported: true,
    state: 'valid',
    lastUse: { at: now - day, address: '2001:db8:85a3:8d3:1319:8a2e:370:7348', scheme: 'accessToken' },
  },
]

export const plan: PlanUse = {
  name: 'free',
  isKnown: true,
  quota: { limit: 10_000, per: 'month', used: 9_730, remaining: 270, resetsAt: now + 7 * day },
  rateLimit: { limit: 60, perMs: minute },
}

export const keyQuotas: readonly KeyQuotaUse[] = [
  { key: 'ci', limit: 100_000, per: 'day', used: 1_000, remaining: 99_000, resetsAt: now + day },
  {
    key: 'legacy.reporting-system-of-the-finance-department-2024',
    ...{ limit: 500, per: 'month', used: 502, remaining: 0, resetsAt: now + 7 * day },
  },
]

export const usageDays = { from: dayOf(now) - 29, to: dayOf(now) }

export const usage: readonly UsageCount[] = Array.from({ length: 30 }, (_, index) => {
  const day = usageDays.from + index
  const requests = (index * 7_919) % 12_345
  return [
    { day, key: 'default', route: 'orders', requests, units: requests },
    {
      day,
      key: 'legacy.reporting-system-of-the-finance-department-2024',
      route: 'reports',
      requests: 3,
      units: 900,
    },
  ]
}).flat()

const codeSecret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
export const newFactor = {
  secret: codeSecret,
  uri: `otpauth://totp/api.example.com:ada%40example.com?issuer=api.example.com&secret=${codeSecret}&algorithm=SHA1&digits=6&period=30`,
}
export const appOnly = { hasApp: true, hasPasskeys: false }

export const passkeys = {
  origin: 'https://api.example.com',
  canConfirm: true,
  isConfirmed: false,
  path: '/profile/two-factor',
}

export const passkeyFactor: SecondFactor = {
  enabledAt: now - day,
  lastStep: 0,
  recoveryDigests: ['a', 'b'],
  passkeys: [
    newPasskey({ id: 'one', createdAt: now - day, usedAt: now - hour }),
    newPasskey({
      id: 'two',
      createdAt: now - hour,
      name: 'Key of Konstantina Papadopoulou-Charalambous at work',
    }),
  ],
}

export const factor = { sealed: '', enabledAt: now - 86_400_000, lastStep: 1, recoveryDigests: ['a', 'b'] }
