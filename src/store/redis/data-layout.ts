import { base64url, compareTexts } from '#platform/text.ts'
import { termsOf } from '../account-search.ts'
import { type Account, emailKey } from '../accounts.ts'
import { type PortalRecord, portalAccessOf } from '../portal-access.ts'
import {
  defaultKeyName,
  defaultKeyOf,
  parseSecretKeyRecord,
  parseStoredKeyRecord,
  type SecretKey,
  type SecretKeyRecord,
  type StoredKeyRecord,
  secretKeyRecord,
  storedKeyRecord,
} from '../secret-keys.ts'
import type { NewSession, Session } from '../sessions.ts'
import type { StoredSigningKey } from '../signing-keys.ts'

/**
 * The names of keys. All lasting data shares one hash tag, so that a Cluster keeps it in one slot: only within a slot
 * can a script atomically change an account, the list of e-mails and the change log, and give all changes one order
 * (docs/decisions/0004-one-slot.md). Counters of rates and quotas expire, and are spread over the slots.
 */
export function createKeyNames(prefix: string) {
  const base = `${prefix}{account}:`
  return {
    log: `${base}log`,
    head: `${base}log-head`,
    storeId: `${base}store-id`,
    format: `${base}format`,
    lostId: `${base}lost-id`,
    restore: `${base}restore`,
    writeProbe: `${base}write-probe`,
    channel: `${base}changes`,
    emails: `${base}emails`,
    ids: `${base}ids`,
    identities: `${base}identities`,
    importedKeys: `${base}imported-keys`,
    signingKeys: `${base}signing-keys`,
    blockedSubjects: `${base}blocked-subjects`,
    account: (id: string) => `${base}account:${id}`,
    session: (id: string) => `${base}session:${id}`,
    sessionsOf: (accountId: string) => `${base}sessions:${accountId}`,
    openSessionsOf: (accountId: string, epoch: number) => `${base}open-sessions:${accountId}:${epoch}`,
    terms: `${base}terms`,
    audit: `${base}audit`,
    ownAudit: `${base}audit-own`,
    auditChains: `${base}audit-chains`,
    auditOnce: (id: string) => `${base}audit-once:${id}`,
    eventReceivers: `${base}event-receivers`,
    portalSessionsOf: (accountId: string) => `${base}portal-sessions:${accountId}`,
    keyUsesOf: (accountId: string) => `${base}key-uses:${accountId}`,
    usageOf: (accountId: string, month: string) => `${base}usage:${accountId}:${month}`,
    usagePrincipals: `${base}usage-principals`,
    activeDays: `${base}active-days`,
    usageBatch: (id: string) => `${base}usage-batch:${id}`,
    instances: `${prefix}instances`,
    quota: (subject: string, window: string) => `${prefix}quota:${subject}:${window}`,
    rate: (subject: string) => `${prefix}rate:${subject}`,
  } as const
}

export type KeyNames = ReturnType<typeof createKeyNames>

// How records are written. An account is one text: as a hash it would take 2.2 KB, since Redis does not pack long
// fields such as the sealed keys, and as a text half of that. A session is a hash of short fields, which Redis packs.

type Fields = Readonly<Record<string, string>>

/**
 * An account as JSON; bytes are base64url. Scripts read `revision`, `isDisabled`, `sessionEpoch`, `emailKey`, `terms`,
 * `portal.epoch` and the digests of the keys. The default key stays where instances of an earlier version expect it,
 * which know no other keys and leave them unchanged; if it was revoked, its digest is empty.
 */
export function accountText({ secretKeys, ...account }: Account): string {
  const current = defaultKeyOf({ secretKeys })
  const previous = secretKeys.find((key) => isDefault(key) && key.revokedAt !== undefined)
  return JSON.stringify({
    ...account,
    emailKey: emailKey(account.email),
    terms: termsOf(account),
    secretKey: current ? secretKeyRecord(current) : { digest: '', createdAt: 0 },
    previousSecretKey: previous && { ...secretKeyRecord(previous), validUntil: previous.revokedAt },
    furtherKeys: secretKeys.filter((key) => !isDefault(key)).map(secretKeyRecord),
    apiKey: storedKeyRecord(account.apiKey),
  })
}

export function parseAccount(text: string): Account {
  // The text was written only by accountText.
  const written = JSON.parse(text) as AccountRecord
  const { emailKey: _, terms: __, secretKey, previousSecretKey, furtherKeys = [], ...account } = written
  const previous = previousSecretKey && {
    createdAt: 0,
    ...previousSecretKey,
    revokedAt: previousSecretKey.validUntil,
  }
  const records = [previous, secretKey.digest === '' ? undefined : secretKey, ...furtherKeys]
  return {
    ...account,
    secretKeys: records.filter((record) => record !== undefined).map(parseSecretKeyRecord),
    apiKey: parseStoredKeyRecord(written.apiKey),
    portal: portalAccessOf(written.portal),
    // An account written before role epochs were introduced is in its first epoch.
    roleEpoch: written.roleEpoch ?? 1,
    plan: written.plan,
  }
}

interface AccountRecord extends Omit<Account, 'secretKeys' | 'apiKey' | 'portal' | 'roleEpoch' | 'plan'> {
  readonly roleEpoch?: number
  readonly plan?: string
  readonly emailKey: string
  readonly terms?: readonly string[]
  readonly portal?: PortalRecord
  readonly secretKey: SecretKeyRecord
  /** Earlier versions write no more than the digest and the end. */
  readonly previousSecretKey?: Omit<SecretKeyRecord, 'createdAt'> & { readonly validUntil: number }
  readonly furtherKeys?: readonly SecretKeyRecord[]
  readonly apiKey: StoredKeyRecord
}

function isDefault({ name }: SecretKey): boolean {
  return name === defaultKeyName
}

/** As a JSON list: name, value, name, value. */
export function sessionFields({ id, accountId, createdAt, expiresAt, visitor, keyId }: NewSession): string {
  const fields = { id, accountId, createdAt, expiresAt, generation: 1, rotatedAt: createdAt, keyId }
  const named = { ...fields, acknowledgedAt: createdAt, address: visitor.address, client: visitor.userAgent }
  return JSON.stringify(Object.entries(named).flatMap(([name, value]) => [name, String(value)]))
}

export function parseSession(fields: Fields): Session | undefined {
  const { id, end } = fields
  const text = (name: string) => fields[name] ?? ''
  const number = (name: string) => Number(fields[name] ?? 0)
  if (id === undefined) return undefined
  return {
    id,
    accountId: text('accountId'),
    createdAt: number('createdAt'),
    expiresAt: number('expiresAt'),
    generation: number('generation'),
    rotatedAt: number('rotatedAt'),
    // 0 = not yet. Sessions from before acknowledgements count as acknowledged when they were rotated.
    acknowledgedAt: number('acknowledgedAt' in fields ? 'acknowledgedAt' : 'rotatedAt') || undefined,
    sessionEpoch: number('sessionEpoch'),
    keyId: text('keyId'),
    end: end === undefined || end === 'reused' ? end : 'revoked',
    address: text('address'),
    userAgent: text('client'),
  }
}

export function signingKeyText(key: StoredSigningKey): string {
  return JSON.stringify({ ...key, sealed: base64url(key.sealed) })
}

export function parseSigningKey(json: string): StoredSigningKey {
  // The text was written only by signingKeyText; a key that cannot be unsealed is refused later.
  const { sealed, ...key } = JSON.parse(json) as Omit<StoredSigningKey, 'sealed'> & {
    readonly sealed: string
  }
  return { ...key, publicKey: key.publicKey, sealed: Buffer.from(sealed, 'base64url') }
}

interface CreatedRecord {
  readonly createdAt: number
  readonly id: string
}

/** The order of lists by time: newest first, and those of the same time by ID. */
export function newestFirst(a: CreatedRecord, b: CreatedRecord): number {
  return b.createdAt - a.createdAt || compareTexts(a.id, b.id)
}
