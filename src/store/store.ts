import type { AuditEntry } from './audit.ts'
import type { StoreDiagnostics } from './diagnostics.ts'
import type { PortalAccess } from './portal-access.ts'
import type { PortalStore } from './portal-store.ts'
import type { Rate, RateResult } from './rate.ts'
import type { RefreshTokenUse, RotationAcknowledgement, RotationRefusal } from './rotation.ts'
import type { Visitor } from './visitor.ts'

export type { Rate, RateResult as Taken } from './rate.ts'

/**
 * The port to the store. Every verb is one atomic step: it happens whole or not at all, and once it has
 * answered it survives a crash. A rejection by a GatehouseError `store-unavailable` means "could not answer", any other
 * is a fault: of the code, or of a record that is damaged. "Not there" is an answer. Times are milliseconds since 1970.
 * An `audit` entry is written in the same step, where something is changed.
 */
export interface Store extends PortalStore, StoreDiagnostics {
  /** Resolves once the store answers. @throws OperatorError if it does not in time */
  ready(timeoutMs: number): Promise<void>
  /** Creates all of the accounts, or none if an e-mail is taken or comes twice. */
  createAccounts(accounts: readonly Account[], audit?: readonly AuditEntry[]): Promise<AccountCreation>
  findAccount(id: string): Promise<Account | undefined>
  /** @param email compared without case */
  findAccountByEmail(email: string): Promise<Account | undefined>
  /** Accounts, newest first, those of one moment by ID backwards, starting after `after`, which may be deleted by now. */
  listAccounts(page: AccountsPage): Promise<readonly Account[]>
  /** Accounts that match some words, in the order of the index of terms. */
  searchAccounts(page: SearchPage): Promise<SearchResult>
  /** Disabling ends the sessions; enabling the account later does not bring them back. */
  updateAccount(id: string, changes: AccountChanges, audit?: AuditEntry): Promise<AccountUpdate>
  /** Removes an account with its keys and sessions; false where there is none. */
  deleteAccount(id: string, audit?: AuditEntry): Promise<boolean>
  /**
   * Replaces the secret key. Without `graceUntil` the old one ends now, and all sessions with it.
   * @returns undefined where there is no such account, or its key is not the one to be replaced
   */
  resetSecretKey(id: string, reset: SecretKeyReset, audit?: AuditEntry): Promise<Account | undefined>
  resetApiKey(id: string, reset: ApiKeyReset, audit?: AuditEntry): Promise<Account | undefined>

  /**
   * Starts a session, unless the account has changed since `looked` was read. Where the account has as many as
   * `openMax` already, the oldest end (`revoked`), so that there are never more than that.
   */
  startSession(
    session: NewSession,
    expected: Pick<Account, 'revision' | 'sessionEpoch'>,
  ): Promise<'started' | 'account-changed'>
  /** One use of a refresh token, decided and done in one step (see tokens/sessions.ts). */
  rotateSession(use: RefreshTokenUse): Promise<Rotation>
  /** Notes which current tokens were given out; what the store does not know or need any more is passed over. */
  acknowledgeRotations(acknowledgements: readonly RotationAcknowledgement[]): Promise<void>
  findSession(id: string): Promise<Session | undefined>
  /** Sessions of an account that have not ended, newest first and of one moment by their IDs: one page of them. */
  listSessions(accountId: string, page: SessionsPage): Promise<readonly Session[]>
  /** False where there is no such session or it has ended already. */
  endSession(id: string, end: SessionEnd, audit?: AuditEntry): Promise<boolean>
  /** Ends all sessions of an account. */
  endSessions(accountId: string, audit?: AuditEntry): Promise<boolean>

  /** Oldest first, and of one moment by their IDs. */
  listSigningKeys(): Promise<readonly StoredSigningKey[]>
  /** @param unless `signer` = only where there is no key of its algorithm that signs or will sign */
  addSigningKey(key: StoredSigningKey, unless?: 'signer', audit?: AuditEntry): Promise<boolean>
  /** Removes a key; false where there is none. */
  retireSigningKey(kid: string, audit?: AuditEntry): Promise<boolean>

  /**
   * Takes one request from a rate, which is counted across instances where the store has several.
   * @param subject names who is counted, and for what
   */
  takeFromRate(subject: string, rate: Rate): Promise<RateResult>
  /** Says that an instance is there. @returns how many are */
  heartbeat(instance: string): Promise<number>

  /** What has changed since a position of the change log; undefined = the part of the log that a start needs. */
  readChanges(after: number | undefined): Promise<ChangeLogReading>
  /** Tells of own changes before the verb answers, and of others' once announced, which may be lost: see readChanges. */
  onChange(listener: (change: LoggedChange) => void): void
  close(): Promise<void>
}

export interface Account {
  readonly id: string
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly role: string
  readonly isVerified: boolean
  readonly isDisabled: boolean
  readonly createdAt: number
  /** Counts every change of the account. */
  readonly revision: number
  /** Counts how often all sessions were ended: a session of an earlier epoch is over. */
  readonly sessionEpoch: number
  /** Counts how often the role has changed, from 1: an access token of an earlier epoch is over. */
  readonly roleEpoch: number
  readonly secretKey: StoredKey
  /** The secret key before the last reset, while its grace lasts. */
  readonly previousSecretKey: { readonly digest: Uint8Array; readonly validUntil: number } | undefined
  readonly apiKey: StoredKey
  readonly portal: PortalAccess
}

export interface AccountsPage {
  readonly after: Pick<Account, 'id' | 'createdAt'> | undefined
  readonly limit: number
}

export interface StoredKey {
  /** SHA-256 of the key. */
  readonly digest: Uint8Array
  /** The key sealed, to be shown again; undefined where none is kept. */
  readonly sealed: Uint8Array | undefined
  readonly createdAt: number
}

/** A place in the index of terms: a term of an account, and its ID. */
export interface TermEntry {
  readonly term: string
  readonly id: string
}

export interface SearchPage {
  /** Words in lower case, at least one. */
  readonly words: readonly string[]
  readonly after: TermEntry | undefined
  readonly limit: number
}

export interface SearchResult {
  readonly accounts: readonly Account[]
  /** `after` of the next page; undefined = this is the last. */
  readonly next: TermEntry | undefined
}

export type AccountCreation =
  | { readonly kind: 'created' }
  | { readonly kind: 'exists'; readonly emails: readonly string[] }

export type AccountChanges = Partial<
  Pick<Account, 'email' | 'firstName' | 'lastName' | 'role' | 'isVerified' | 'isDisabled'>
>

export type AccountUpdate =
  | { readonly kind: 'updated'; readonly account: Account }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'exists' }

export interface ApiKeyReset {
  readonly apiKey: StoredKey
  /** Reset only if this is the digest of the present key; absent = whatever the key is. */
  readonly replaces?: Uint8Array
}

export interface SecretKeyReset extends Pick<ApiKeyReset, 'replaces'> {
  readonly secretKey: StoredKey
  /** Until when the old key still works; undefined = it ends now. */
  readonly graceUntil: number | undefined
}

export interface SessionsPage {
  readonly now: number
  /** The page begins after this one, which may have ended by now; undefined = with the newest. */
  readonly after?: Pick<Session, 'id' | 'createdAt'> | undefined
  readonly limit: number
}

export interface NewSession {
  readonly id: string
  readonly accountId: string
  readonly createdAt: number
  /** Never extended. */
  readonly expiresAt: number
  /** The session also ends when it is not refreshed for this long. */
  readonly idleMs: number
  /** How many sessions the account may have with this one, from 1. */
  readonly openMax: number
  /** Who started it. */
  readonly visitor: Visitor
}

export interface Session {
  readonly id: string
  readonly accountId: string
  readonly createdAt: number
  readonly expiresAt: number
  /** Number of the current refresh token, from 1. */
  readonly generation: number
  readonly rotatedAt: number
  /** When the current refresh token was first given out; undefined = as far as is known it never was. */
  readonly acknowledgedAt: number | undefined
  readonly sessionEpoch: number
  readonly end: SessionEnd | undefined
  /** From where it was started, or refreshed last. */
  readonly address: string
  readonly userAgent: string
}

export type SessionEnd = 'revoked' | 'reused'

export type Rotation =
  /** `session` has the generation to hand out: a new one, or the same current one again. */
  | { readonly kind: 'current'; readonly session: Session; readonly account: Account }
  | { readonly kind: 'over'; readonly reason: RotationRefusal }

export interface StoredSigningKey {
  readonly kid: string
  readonly algorithm: string
  /** The private half, or the secret of HS256, sealed. */
  readonly sealed: Uint8Array
  /** PEM; undefined for HS256. */
  readonly publicKey: string | undefined
  readonly createdAt: number
  /** From when it signs; before that it is announced. */
  readonly signsFrom: number
}

/** What caches must drop. A session changes only once: when it ends. */
export type Change =
  | { readonly kind: 'account'; readonly accountId: string }
  | { readonly kind: 'session'; readonly sessionId: string }
  | { readonly kind: 'signing-keys' }

/** One entry of the change log. */
export interface LoggedChange {
  readonly change: Change
  /** Its number in the log, from 1. */
  readonly position: number
  /** When it was made, on the clock of this process. */
  readonly at: number
}

export interface ChangeLogReading {
  /** Position of the last entry. */
  readonly head: number
  /** In order; undefined = the changes in between are not known: drop everything. */
  readonly changes: readonly LoggedChange[] | undefined
  /** All changes from this time on are among those that were read, now or before. */
  readonly completeSince: number
}
