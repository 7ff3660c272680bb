import { throwUnlessStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import type { Clock } from '#platform/time.ts'
import type { Account } from '#store/accounts.ts'
import type { KeyStore } from '#store/keys.ts'
import { namedKeyOf } from '#store/secret-keys.ts'
import type { SessionStore } from '#store/sessions.ts'
import { endSessionsOfLostKeys } from '../account-sessions.ts'
import type { AuditEntryFactory } from '../audit-log.ts'
import { graceEnd, graceLeft } from './input.ts'
import { type makeSecretKey, withUnconfirmedKeys } from './make-key.ts'

/** A new key, in the place of another. */
export interface ReplacedKey {
  readonly key: string
  /** How many seconds the other still works: fewer than asked where it expires earlier. */
  readonly graceSeconds: number
}

interface ReplaceOptions {
  readonly store: KeyStore & Pick<SessionStore, 'listSessions' | 'endSession'>
  readonly entry: AuditEntryFactory
  readonly clock: Clock
}

/**
 * Puts a new secret key in the place of another.
 * @returns undefined if the other is no longer there
 * @throws UnconfirmedKeys
 */
export async function replaceSecretKey(
  { store, entry, clock }: ReplaceOptions,
  account: Account,
  replacement: {
    readonly made: ReturnType<typeof makeSecretKey>
    /** How long the other still works. */
    readonly graceSeconds: number
    /** Digest of the other; undefined = the default key, whichever it is. */
    readonly replaces: Uint8Array | undefined
    /** What the audit log gets besides the grace period. */
    readonly details?: { readonly name: string }
  },
): Promise<ReplacedKey | undefined> {
  const { made, graceSeconds, replaces, details } = replacement
  const now = clock()
  const graceUntil = graceEnd(graceSeconds, now)
  const reset = { secretKey: made.stored, graceUntil, ...(replaces && { replaces }) }
  const before = namedKeyOf(account, made.stored.name)
  const left = graceLeft(before ? [before] : [], graceSeconds, now)
  const auditEntry = entry('secret-key-reset', account, { ...details, graceSeconds: left })
  const after = await withUnconfirmedKeys(made.key, store.resetSecretKey(account.id, reset, auditEntry))
  if (!after) return undefined
  // The key has been replaced: the new one must be shown even if this fails.
  await endSessionsOfLostKeys(store, account, after, now).catch(throwUnlessStoreUnavailable)
  return { key: made.key, graceSeconds: left }
}
