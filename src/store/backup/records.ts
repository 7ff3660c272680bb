import { base64url } from '#platform/text.ts'
import type { Account } from '../accounts.ts'
import { isAuditEntry } from '../audit-entry.ts'
import { type PortalRecord, portalAccessOf } from '../portal-access.ts'
import {
  parseSecretKeyRecord,
  parseStoredKeyRecord,
  type SecretKeyRecord,
  type StoredKeyRecord,
  secretKeyRecord,
  storedKeyRecord,
} from '../secret-keys.ts'
import type { StoredSigningKey } from '../signing-keys.ts'

/**
 * The type of a field: numbers are integers, `bytes` are base64url, `object` is JSON, `entry` is the text of an audit
 * entry, and with `?` it may be null, or absent in a backup that was made before the field existed.
 */
export type FieldType = 'text' | 'number' | 'flag' | 'bytes' | 'object' | 'entry' | 'text?' | 'number?'

const account = {
  id: 'text',
  email: 'text',
  firstName: 'text',
  lastName: 'text',
  role: 'text',
  isVerified: 'flag',
  isDisabled: 'flag',
  createdAt: 'number',
  revision: 'number',
  sessionEpoch: 'number',
  roleEpoch: 'number',
  plan: 'text?',
  managedBy: 'text?',
  secretKeys: 'object',
  apiKey: 'object',
  portal: 'object',
} as const

/**
 * Everything that a store holds, by kind, in the form common to all drivers, with secrets as they are stored, as
 * digests or sealed. Not included are indexes, which a store rebuilds, and what lasts for an hour at most: rates, live
 * instances, and the IDs of batches of usage. Times are milliseconds since 1970.
 */
export const recordFields = {
  /** `id`: identifies the store to gateways; `head`: the position of its change log. */
  store: { id: 'text', head: 'number' },
  account,
  /** The state of an account that has changed since it was read, or its deletion: see `BackupStore`. */
  changed: account,
  gone: { id: 'text' },
  session: {
    id: 'text',
    accountId: 'text',
    createdAt: 'number',
    expiresAt: 'number',
    livesUntil: 'number',
    generation: 'number',
    rotatedAt: 'number',
    acknowledgedAt: 'number?',
    sessionEpoch: 'number',
    keyId: 'text',
    end: 'text?',
    address: 'text',
    userAgent: 'text',
  },
  portalSession: {
    accountId: 'text',
    id: 'text',
    digest: 'text',
    createdAt: 'number',
    expiresAt: 'number',
    seenAt: 'number',
    address: 'text',
    userAgent: 'text',
    epoch: 'number',
  },
  keyUse: { accountId: 'text', digest: 'text', at: 'number', address: 'text', scheme: 'text' },
  /** The last day on which an account was active. */
  activity: { accountId: 'text', day: 'number' },
  /** For an account, or a principal of a foreign issuer. */
  usage: {
    accountId: 'text',
    day: 'number',
    key: 'text',
    route: 'text',
    requests: 'number',
    units: 'number',
  },
  usagePrincipal: { id: 'text', day: 'number' },
  /**
   * `accountId`: its subject, see quotas.ts; `held`: by each process, its ID: reserved, sequence, granted, askedAt
   * (see quotas.ts).
   */
  quota: { accountId: 'text', window: 'text', keptUntil: 'number', granted: 'number', held: 'object' },
  signingKey: {
    kid: 'text',
    algorithm: 'text',
    sealed: 'bytes',
    publicKey: 'text?',
    createdAt: 'number',
    signsFrom: 'number',
  },
  blockedSubject: { principalId: 'text', blockedAt: 'number' },
  /** In log order; the text of an entry and its link, verbatim. */
  audit: { class: 'text', entry: 'entry', link: 'text' },
  auditChain: { class: 'text', trimmed: 'text', last: 'text' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, FieldType>>>>

type Fields = typeof recordFields

export type RecordKind = keyof Fields

interface Values {
  readonly text: string
  readonly number: number
  readonly flag: boolean
  readonly bytes: string
  readonly object: unknown
  readonly entry: string
  readonly 'text?': string | null
  readonly 'number?': number | null
}

export type RecordOf<Kind extends RecordKind> = { readonly kind: Kind } & {
  readonly [Name in keyof Fields[Kind]]: Fields[Kind][Name] extends FieldType
    ? Values[Fields[Kind][Name]]
    : never
}

export type AnyRecord<Kinds extends RecordKind> = { [Kind in Kinds]: RecordOf<Kind> }[Kinds]

export type BackupRecord = AnyRecord<RecordKind>

/** What a store is restored from: each account once, in its last state. */
export type StoreRecord = AnyRecord<Exclude<RecordKind, 'gone' | 'changed'>>

/** Why a value is not a record of a kind: the name of its first invalid field; undefined = it is one. */
export function badFieldOf(kind: RecordKind, value: Readonly<Record<string, unknown>>): string | undefined {
  const fields: Readonly<Record<string, FieldType>> = recordFields[kind]
  return Object.keys(fields).find((name) => !isOf(fields[name] ?? 'object', value[name]))
}

function isOf(type: FieldType, value: unknown): boolean {
  switch (type) {
    case 'text':
    case 'bytes':
      return typeof value === 'string'
    case 'number':
      return Number.isSafeInteger(value)
    case 'flag':
      return typeof value === 'boolean'
    case 'object':
      return typeof value === 'object' && value !== null
    case 'entry':
      return typeof value === 'string' && isAuditEntry(value)
    case 'text?':
      return value === null || value === undefined || typeof value === 'string'
    case 'number?':
      return value === null || value === undefined || Number.isSafeInteger(value)
    default:
      return type satisfies never
  }
}

export function accountRecord(account: Account): RecordOf<'account'> {
  const { apiKey, secretKeys, plan = null, managedBy = null, ...rest } = account
  return {
    kind: 'account',
    ...rest,
    plan,
    managedBy,
    secretKeys: secretKeys.map(secretKeyRecord),
    apiKey: storedKeyRecord(apiKey),
  }
}

/** @throws if the record was not made by `accountRecord` */
export function accountOf({ kind: _, managedBy, ...record }: RecordOf<'account'>): Account {
  return {
    ...record,
    plan: record.plan ?? undefined,
    ...(typeof managedBy === 'string' && { managedBy }),
    // The casts are sound for what accountRecord has written; of what is needed, anything else throws.
    secretKeys: (record.secretKeys as readonly SecretKeyRecord[]).map(parseSecretKeyRecord),
    apiKey: parseStoredKeyRecord(record.apiKey as StoredKeyRecord),
    portal: portalAccessOf(record.portal as PortalRecord),
  }
}

export function signingKeyRecord({ sealed, publicKey, ...key }: StoredSigningKey): RecordOf<'signingKey'> {
  return {
    kind: 'signingKey',
    ...key,
    publicKey: publicKey ?? null,
    sealed: base64url(sealed),
  }
}

export function signingKeyOf({
  kind: _,
  sealed,
  publicKey,
  ...key
}: RecordOf<'signingKey'>): StoredSigningKey {
  return { ...key, publicKey: publicKey ?? undefined, sealed: Buffer.from(sealed, 'base64url') }
}

/** Everything that a store holds, to be kept elsewhere, or moved to another driver. */
export interface BackupStore {
  /**
   * All records, in batches, while others write. It includes every write that was acknowledged before the first batch;
   * all accounts are as of one moment, with the audit log of that moment. SQLite reads everything as of the beginning.
   * Redis reads accounts one after another: those that change in the meantime follow again as `changed` or `gone`, and
   * the last of these counts.
   * @throws GatehouseError `store-unavailable`, at any batch; earlier batches are then useless
   */
  backUp(): AsyncIterable<readonly BackupRecord[]>
  /**
   * Writes all records, or none if one cannot be written or the batches fail. Only into an empty store that nobody else
   * writes to. In Redis, what a killed process has written is ignored by gateways, and removed by the next call.
   * @throws OperatorError if two records exclude each other, such as accounts with the same e-mail, and what the
   * batches throw
   */
  restore(batches: AsyncIterable<readonly StoreRecord[]>): Promise<Restoration>
}

/** `used`: the store is not empty, as it has a record of this kind; `busy`: another process is restoring it. */
export type Restoration =
  | { readonly kind: 'restored' | 'busy' }
  | { readonly kind: 'used'; readonly by: RecordKind }
