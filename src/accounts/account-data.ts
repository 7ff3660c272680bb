import { type EpochMs, formatDay } from '#platform/time.ts'
import type { Account, ListedAccount } from '#store/accounts.ts'
import type { Quota } from '#store/quotas.ts'
import type { Session } from '#store/sessions.ts'
import type { CreatedAccount } from './accounts.ts'
import { csvLine, exportLine, type FileDownload } from './csv.ts'
import type { SecretKeyInput } from './keys/input.ts'
import type { BoundCertificate, SecretKeyStatus } from './keys/secret-keys.ts'

/** An account as commands and the admin API show it. */
export function accountData(account: Account) {
  const { id, email, firstName, lastName, role, isVerified, isDisabled: disabled, plan = null } = account
  const createdAt = new Date(account.createdAt).toISOString()
  return { id, email, firstName, lastName, role, isVerified, disabled, plan, createdAt }
}

/**
 * A new account with its keys.
 * @param setupUrl undefined = none: no portal, a password is set, or it cannot be created now
 */
export function createdData({ account, secretKey, apiKey }: CreatedAccount, setupUrl?: string) {
  const { disabled, plan, createdAt, ...data } = accountData(account)
  return {
    ...data,
    ...(plan !== null && { plan }),
    secretKey,
    apiKey,
    ...(setupUrl !== undefined && { setupUrl }),
  }
}

/** A session of access and refresh tokens. */
export function sessionData(session: Session) {
  const { id, generation, address, userAgent: client } = session
  return {
    id,
    createdAt: new Date(session.createdAt).toISOString(),
    refreshedAt: new Date(session.rotatedAt).toISOString(),
    expiresAt: new Date(session.expiresAt).toISOString(),
    refreshes: generation - 1,
    address,
    client,
  }
}

/** A secret key, without the key. */
export function secretKeyData(status: SecretKeyStatus) {
  const { name, state, scopes, addresses, quota, createdAt, expiresAt, revokedAt, lastUse } = status
  return {
    name,
    lastFour: status.lastFour ?? null,
    state,
    scopes,
    addresses,
    quota: quotaData(quota),
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: timeOrNull(expiresAt),
    revokedAt: timeOrNull(revokedAt),
    lastUsedAt: timeOrNull(lastUse?.at),
    lastUsedFrom: lastUse?.address ?? null,
    imported: status.isImported,
  }
}

/** A new secret key, with the key. */
export function createdKeyData(secretKey: string, input: SecretKeyInput) {
  return { secretKey, ...keyInputData(input) }
}

/** The values of a secret key that its creator chooses. */
export function keyInputData({ name, scopes, addresses, quota, expiresAt }: SecretKeyInput) {
  return { name, scopes, addresses, quota: quotaData(quota), expiresAt: timeOrNull(expiresAt) }
}

/** A certificate that is now a key. */
export function boundCertificateData({ certificate, input }: BoundCertificate) {
  const { subject, validUntil, digest } = certificate
  const [sha256, validTo] = [Buffer.from(digest).toString('hex'), timeOrNull(validUntil)]
  return { ...keyInputData(input), certificate: { subject, sha256, validTo } }
}

export function quotaData(quota: Quota | undefined): Quota | null {
  return quota ? { limit: quota.limit, per: quota.per } : null
}

export function timeOrNull(time: EpochMs | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString()
}

export const keysCsvHeading = csvLine(['id', 'email', 'secretKey', 'apiKey'])

/** The keys of new accounts as CSV, without the heading. */
export function keysCsvLines(created: readonly CreatedAccount[]): string {
  return created
    .map(({ account: { id, email }, secretKey, apiKey }) => csvLine([id, email, secretKey, apiKey]))
    .join('')
}

/** An account of a list, as commands, exports and the admin API show it. */
export function listedAccountData(account: ListedAccount) {
  const { lastActiveDay } = account
  return {
    ...accountData(account),
    lastActiveOn: lastActiveDay === undefined ? null : formatDay(lastActiveDay),
  }
}

const listColumns = [
  'id',
  'email',
  'firstName',
  'lastName',
  'role',
  'isVerified',
  'disabled',
  'plan',
  'createdAt',
  'lastActiveOn',
] as const

/** Pages of accounts as CSV (RFC 4180) with a header. */
export async function* accountsCsv(pages: AsyncIterable<readonly ListedAccount[]>): AsyncGenerator<string> {
  yield csvLine(listColumns)
  const lineOf = exportLine('csv', listColumns)
  for await (const page of pages) yield page.map((account) => lineOf(listedAccountData(account))).join('')
}

export function accountsFile(pages: AsyncIterable<readonly ListedAccount[]>): FileDownload {
  return { name: 'accounts.csv', type: 'text/csv; charset=utf-8', chunks: accountsCsv(pages) }
}
