import { randomBytes } from 'node:crypto'
import { createSessionId } from '#identity/tokens/refresh-tokens.ts'
import type { Account } from '#store/accounts.ts'
import type { AuditEntry, LoggedAuditEntry } from '#store/audit-entry.ts'
import type { PortalSession } from '#store/portal.ts'
import type { Passkey } from '#store/portal-access.ts'
import type { Store } from '#store/store.ts'
import { hour, now, visitor } from './samples.ts'

type NewPortalSession = Omit<PortalSession, 'epoch' | 'seenAt'>

export function newPortalSession(
  { id: accountId }: Pick<Account, 'id'>,
  changes: Partial<NewPortalSession> = {},
): NewPortalSession {
  return {
    id: createSessionId(),
    accountId,
    digest: newDigest(),
    createdAt: now,
    expiresAt: now + hour,
    ...visitor,
    ...changes,
  }
}

export async function startPortalSession(
  store: Store,
  account: Pick<Account, 'id' | 'revision'>,
  changes: Partial<NewPortalSession> = {},
): Promise<NewPortalSession> {
  const session = newPortalSession(account, changes)
  const started = await store.startPortalSession(session, account)
  if (started !== 'started') throw new Error(`the session was not started: ${started}`)
  return session
}

export function newAuditEntry(changes: Partial<AuditEntry> = {}): AuditEntry {
  return {
    at: now,
    actor: { kind: 'operator', channel: 'cli', name: 'ada' },
    action: 'account-updated',
    target: { id: 'a', email: 'a@example.com' },
    details: {},
    ...changes,
  }
}

export function newPasskey(changes: Partial<Passkey> = {}): Passkey {
  return {
    id: newDigest(),
    publicKey: newDigest(),
    counter: 0,
    transports: ['internal'],
    name: 'Laptop',
    createdAt: now,
    ...changes,
  }
}

/** A digest as tokens have it. */
export function newDigest(): string {
  return randomBytes(32).toString('base64url')
}

/** The newest entries of the audit log, starting just before a position. */
export async function listAudit(
  store: Pick<Store, 'findAudit'>,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<readonly LoggedAuditEntry[]> {
  const filter = { action: undefined, who: undefined }
  return (await store.findAudit({ filter, ...page })).entries
}
