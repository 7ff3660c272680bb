import type { Test } from 'tap'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { everyAccount } from '#store/account-search.ts'
import type { AccountBatch, AccountStore } from '#store/accounts.ts'
import type { AuditStore, EventStore } from '#store/audit.ts'
import type { BackupStore, StoreRecord } from '#store/backup/records.ts'
import type { ChangeStore } from '#store/changes.ts'
import type { ImportedKeyStore, KeyStore } from '#store/keys.ts'
import type { PortalStore } from '#store/portal.ts'
import type { QuotaStore } from '#store/quotas.ts'
import type { RateStore } from '#store/rates.ts'
import type { SessionStore } from '#store/sessions.ts'
import type { SigningKeyStore } from '#store/signing-keys.ts'
import type { Store } from '#store/store.ts'
import type { StoreDiagnostics } from '#store/store-health.ts'
import type { SubjectStore } from '#store/subjects.ts'
import type { UsageStore } from '#store/usage.ts'
import { recordsOf } from '../backup-samples.ts'
import { newAuditEntry, newPasskey, newPortalSession } from '../portal-samples.ts'
import { newQuotaTake } from '../quota-samples.ts'
import { newAccount, newKey, newSecretKey, newSession, newSigningKey, now, useOf } from '../samples.ts'
import { newUsage, newUsageBatch, today } from '../usage-samples.ts'

/** A call of each verb of a slice that asks the store. */
type Calls<Slice> = {
  readonly [Name in Exclude<
    keyof Slice,
    'ready' | 'onChange' | 'isListening' | 'onWrite' | 'onAudit' | 'close'
  >]: (store: Slice) => Promise<unknown>
}

async function* oneBatch(): AsyncGenerator<AccountBatch> {
  yield { accounts: [newAccount()], audit: [] }
}

const accountVerbs: Calls<AccountStore> = {
  createAccounts: (store) => store.createAccounts([newAccount()]),
  importAccounts: (store) => store.importAccounts(oneBatch()),
  findAccount: (store) => store.findAccount('a'),
  findAccountByEmail: (store) => store.findAccountByEmail('a@example.com'),
  listAccounts: (store) => store.listAccounts({ after: { id: 'a', createdAt: now }, limit: 1 }),
  filterAccounts: (store) =>
    store.filterAccounts({ filter: everyAccount, order: 'email', after: undefined, limit: 1 }),
  countAccounts: (store) => store.countAccounts(),
  searchAccounts: (store) => store.searchAccounts({ words: ['a'], after: undefined, limit: 1 }),
  updateAccount: (store) => store.updateAccount('a', { role: 'Admin' }),
  deleteAccount: (store) => store.deleteAccount('a'),
}

const keyVerbs: Calls<KeyStore> = {
  resetSecretKey: (store) => store.resetSecretKey('a', { secretKey: newSecretKey(), graceUntil: undefined }),
  addSecretKey: (store) => store.addSecretKey('a', { secretKey: newSecretKey({ name: 'ci' }), keysMax: 20 }),
  renameSecretKey: (store) => store.renameSecretKey('a', { name: 'ci', to: 'cd' }),
  revokeSecretKey: (store) => store.revokeSecretKey('a', { name: 'ci', now, graceUntil: undefined }),
  resetApiKey: (store) => store.resetApiKey('a', { apiKey: newKey() }),
  resealAccount: (store) =>
    store.resealAccount('a', [{ before: new Uint8Array(1), after: new Uint8Array(2) }]),
  endOverlap: (store) => store.endOverlap('a', now),
  recordKeyUses: (store) =>
    store.recordKeyUses([{ accountId: 'a', digest: 'd', at: now, address: '::1', scheme: 'secretKey' }]),
  findKeyUses: (store) => store.findKeyUses('a'),
}

const importedKeyVerbs: Calls<ImportedKeyStore> = {
  importSecretKeys: (store) =>
    store.importSecretKeys([
      { accountId: 'a', secretKey: { ...newSecretKey({ name: 'old' }), isImported: true }, keysMax: 20 },
    ]),
  findImportedKey: (store) => store.findImportedKey(new Uint8Array(32)),
  hasImportedKeys: (store) => store.hasImportedKeys(),
}

const sessionVerbs: Calls<SessionStore> = {
  startSession: (store) =>
    store.startSession(newSession({ id: 'a', secretKeys: [] }), { revision: 1, sessionEpoch: 1 }),
  rotateSession: (store) => store.rotateSession(useOf({ id: 'a' })),
  acknowledgeRotations: (store) => store.acknowledgeRotations([{ sessionId: 'a', generation: 1, at: now }]),
  findSession: (store) => store.findSession('a'),
  listSessions: (store) => store.listSessions('a', { now, limit: 1_000 }),
  listSessionPositions: (store) => store.listSessionPositions('a', { now, limit: 1_000 }),
  endSession: (store) => store.endSession('a', 'revoked'),
  endSessions: (store) => store.endSessions('a'),
}

const signingKeyVerbs: Calls<SigningKeyStore> = {
  listSigningKeys: (store) => store.listSigningKeys(),
  addSigningKey: (store) => store.addSigningKey(newSigningKey()),
  resealSigningKey: (store) =>
    store.resealSigningKey('a', { before: new Uint8Array(1), after: new Uint8Array(2) }),
  retireSigningKey: (store) => store.retireSigningKey('a'),
}

const rateVerbs: Calls<RateStore> = {
  takeFromRate: async (store) => store.takeFromRate('session start', 'a', { limit: 10, perMs: 60_000 }),
  heartbeat: (store) => store.heartbeat('a'),
}

const quotaVerbs: Calls<QuotaStore> = {
  takeQuota: (store) => store.takeQuota(newQuotaTake()),
  readQuota: (store) => store.readQuota('a', '2100-01'),
}

const changeVerbs: Calls<ChangeStore> = {
  readChanges: (store) => store.readChanges(undefined),
}

const auditVerbs: Calls<AuditStore> = {
  appendAudit: (store) => store.appendAudit(newAuditEntry()),
  findAudit: (store) =>
    store.findAudit({ filter: { action: undefined, who: 'a' }, before: undefined, limit: 1 }),
  readAuditChains: (store) => store.readAuditChains(),
  readAuditChain: (store) => store.readAuditChain({ class: 'own', after: undefined, limit: 1 }),
}

const eventVerbs: Calls<EventStore> = {
  readReceivers: (store) => store.readReceivers(),
  replaceReceiver: (store) => store.replaceReceiver({ id: 'a', before: '', after: '{}' }),
  readAuditAfter: (store) => store.readAuditAfter({ after: '', limit: 1 }),
  appendAuditOnce: (store) =>
    store.appendAuditOnce({ id: 'a', keptUntil: Date.now() + 60_000, entry: newAuditEntry() }),
}

const portalVerbs: Calls<PortalStore> = {
  setPassword: (store) => store.setPassword('a', { password: 'p', proof: undefined, endsSessions: true }),
  countPasswordAttempt: (store) => store.countPasswordAttempt('a', undefined),
  settlePasswordAttempt: (store) => store.settlePasswordAttempt('a', 'not-wrong', undefined),
  findAccountByIdentity: (store) => store.findAccountByIdentity({ issuer: 'i', subject: 's' }),
  linkIdentity: (store) => store.linkIdentity('a', { identity: { issuer: 'i', subject: 's' }, email: 'a' }),
  unlinkIdentities: (store) => store.unlinkIdentities('a'),
  setSetupLink: (store) => store.setSetupLink('a', { digest: 'd', expiresAt: now }),
  setResetLink: (store) => store.setResetLink('a', { digest: 'd', expiresAt: now }),
  enableSecondFactor: (store) =>
    store.enableSecondFactor('a', { sealed: 's', enabledAt: now, lastStep: 1, recoveryDigests: [] }),
  useSecondFactor: (store) => store.useSecondFactor('a', { kind: 'step', step: 2 }),
  setRecoveryCodes: (store) => store.setRecoveryCodes('a', ['d']),
  disableSecondFactor: (store) => store.disableSecondFactor('a', 'all'),
  addPasskey: (store) =>
    store.addPasskey('a', { passkey: newPasskey(), challengeAt: now, recoveryDigests: [], passkeysMax: 1 }),
  usePasskey: (store) => store.usePasskey('a', { id: 'a', counter: 0, challengeAt: now, now }),
  changePasskey: (store) => store.changePasskey('a', { id: 'a', name: 'b' }),
  noteSignInNetwork: (store) => store.noteSignInNetwork('a', '192.0.2.0/24'),
  setLanguage: (store) => store.setLanguage('a', 'de'),
  setEmailLink: (store) => store.setEmailLink('a', { digest: 'd', expiresAt: now, email: 'a@example.com' }),
  redeemEmailLink: (store) => store.redeemEmailLink('a', { digest: 'd', now }),
  startPortalSession: (store) => store.startPortalSession(newPortalSession({ id: 'a' }), { revision: 1 }),
  findPortalSession: (store) => store.findPortalSession('a', 'a'),
  touchPortalSession: (store) =>
    store.touchPortalSession('a', 'a', { at: now, address: '::1', userAgent: '' }),
  listPortalSessions: (store) => store.listPortalSessions('a', now),
  endPortalSession: (store) => store.endPortalSession('a', 'a'),
  endPortalSessions: (store) => store.endPortalSessions('a'),
}

const usageVerbs: Calls<UsageStore> = {
  addUsage: (store) => store.addUsage(newUsageBatch([newUsage({ id: 'a' })])),
  admitUsagePrincipals: (store) => store.admitUsagePrincipals(['corp:a'], today),
  listUsagePrincipals: (store) => store.listUsagePrincipals(undefined),
  readUsage: (store) => store.readUsage('a', { from: today, to: today }),
}

const subjectVerbs: Calls<SubjectStore> = {
  findBlockedSubject: (store) => store.findBlockedSubject('corp:a'),
  blockSubject: (store) => store.blockSubject({ principalId: 'corp:a', blockedAt: now }),
  unblockSubject: (store) => store.unblockSubject('corp:a'),
  listBlockedSubjects: (store) => store.listBlockedSubjects({ after: undefined, limit: 1 }),
}

const diagnosticsVerbs: Calls<StoreDiagnostics> = {
  probeWrite: (store) => store.probeWrite(),
  findRisks: (store) => store.findRisks(),
}

const backupVerbs: Calls<BackupStore> = {
  backUp: (store) => recordsOf(store),
  restore: (store) => store.restore(noBatches()),
}

async function* noBatches(): AsyncGenerator<readonly StoreRecord[]> {}

/** A verb that is new has to come in above. */
export const everyVerb: Calls<Store> = {
  ...accountVerbs,
  ...keyVerbs,
  ...importedKeyVerbs,
  ...sessionVerbs,
  ...signingKeyVerbs,
  ...rateVerbs,
  ...quotaVerbs,
  ...changeVerbs,
  ...auditVerbs,
  ...eventVerbs,
  ...portalVerbs,
  ...usageVerbs,
  ...subjectVerbs,
  ...diagnosticsVerbs,
  ...backupVerbs,
}

/** Those that write. */
export const writes: readonly string[] = [
  'createAccounts',
  'importAccounts',
  'updateAccount',
  'deleteAccount',
  'resetSecretKey',
  'resetApiKey',
  'importSecretKeys',
  'setPassword',
  'countPasswordAttempt',
  'settlePasswordAttempt',
  'linkIdentity',
  'unlinkIdentities',
  'setSetupLink',
  'setResetLink',
  'noteSignInNetwork',
  'enableSecondFactor',
  'useSecondFactor',
  'setRecoveryCodes',
  'disableSecondFactor',
  'setLanguage',
  'setEmailLink',
  'redeemEmailLink',
  'startPortalSession',
  'touchPortalSession',
  'endPortalSession',
  'endPortalSessions',
  'endOverlap',
  'resealAccount',
  'recordKeyUses',
  'takeQuota',
  'addUsage',
  'admitUsagePrincipals',
  'appendAudit',
  'appendAuditOnce',
  'replaceReceiver',
  'startSession',
  'rotateSession',
  'acknowledgeRotations',
  'endSession',
  'endSessions',
  'addSigningKey',
  'resealSigningKey',
  'retireSigningKey',
  'blockSubject',
  'unblockSubject',
  'restore',
]

/** Asks every verb, or some, of a store that cannot answer. */
export async function assertUnavailable(
  t: Test,
  store: Store,
  verbs: readonly string[] = Object.keys(everyVerb),
): Promise<void> {
  const asked = Object.entries(everyVerb).filter(([name]) => verbs.includes(name))
  await Promise.all(
    asked.map(async ([name, ask]) => {
      const error = await ask(store).then(
        () => undefined,
        (error: unknown) => error,
      )
      t.ok(error instanceof GatehouseError, `${name} is rejected by one of our errors`)
      t.match(error, { code: 'store-unavailable' }, name)
      t.ok(error instanceof Error && error.cause instanceof Error, `${name} has the cause`)
    }),
  )
}
