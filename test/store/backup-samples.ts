import { readLines } from '#platform/files.ts'
import type { Account } from '#store/accounts.ts'
import { checkBackup, formatBackup } from '#store/backup/backup-file.ts'
import type { BackupRecord, BackupStore, Restoration, StoreRecord } from '#store/backup/records.ts'
import { noPortalAccess } from '#store/portal-access.ts'
import { keyQuotaSubject, quotaWindow } from '#store/quotas.ts'
import type { Store } from '#store/store.ts'
import { listAudit, newAuditEntry, newDigest, newPasskey, startPortalSession } from './portal-samples.ts'
import { newQuotaTake } from './quota-samples.ts'
import {
  createAccount,
  day,
  hour,
  newKey,
  newSecretKey,
  newSigningKey,
  now,
  second,
  startSession,
  useOf,
} from './samples.ts'
import { newUsage, newUsageBatch, today } from './usage-samples.ts'

/** All records of a backup. */
export async function recordsOf(store: BackupStore): Promise<readonly BackupRecord[]> {
  const records: BackupRecord[] = []
  for await (const batch of store.backUp()) records.push(...batch)
  return records
}

export async function* inOneBatch(records: readonly StoreRecord[]): AsyncGenerator<readonly StoreRecord[]> {
  yield records
}

/** The text of a backup. */
export async function backupText(store: BackupStore): Promise<string> {
  const head = { version: '0.0.0', at: new Date(now).toISOString(), driver: 'any' }
  let text = ''
  for await (const chunk of formatBackup(head, store.backUp(), () => {})) text += chunk
  return text
}

/** Restores a text as the command does. */
export async function restoreText(store: BackupStore, text: string): Promise<Restoration> {
  return store.restore((await checkText(text)).records())
}

export function checkText(text: string) {
  async function* bytes() {
    yield Buffer.from(text)
  }
  return checkBackup({ name: 'the backup', lines: () => readLines(bytes()) }, () => {})
}

/** The accounts and sessions of a store that has something of everything. */
export interface Filled {
  readonly accounts: readonly Account[]
  readonly sessionIds: readonly string[]
}

const person = { issuer: 'https://id.example.com', subject: '2482' }
export const principalId = 'corp:2482'

/** Fills a store with something of everything, in every state that there is. */
export async function fill(store: Store): Promise<Filled> {
  const ada = await createAccount(store, {
    email: 'Ada@Example.com',
    role: 'Admin',
    secretKeys: [
      newSecretKey({ revokedAt: now + hour }),
      newSecretKey(),
      newSecretKey({
        name: 'ci',
        scopes: ['orders:read'],
        addresses: ['192.0.2.0/24'],
        expiresAt: now + day,
      }),
      newSecretKey({ name: 'shown once', sealed: undefined }),
    ],
    apiKey: newKey({ lastFour: 'aB12' }),
    plan: 'free',
    managedBy: 'team-a',
    portal: {
      ...noPortalAccess,
      epoch: 3,
      password: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
      networks: ['192.0.2.0/24'],
      setupLink: { digest: newDigest(), expiresAt: now + hour },
      secondFactor: {
        sealed: 's',
        enabledAt: now,
        lastStep: 7,
        recoveryDigests: [newDigest()],
        passkeys: [newPasskey({ usedAt: now })],
      },
      passkeyChallengeAt: now,
    },
  })
  // A store learns of a person only with a change.
  await store.linkIdentity(ada.id, { identity: person, email: ada.email, proof: { kind: 'session' } })
  const bob = await createAccount(store, {
    isDisabled: true,
    isVerified: false,
    firstName: 'Bób "\\ \u2028',
    secretKeys: [],
  })
  const cyd = await createAccount(store)
  await store.linkIdentity(cyd.id, { identity: { ...person, subject: 'cyd' }, email: cyd.email })
  const keyQuota = { id: 'ofOldKey', limit: 1_000, per: 'month' } as const
  const imported = {
    ...newSecretKey({ name: 'old', sealed: undefined, quota: keyQuota }),
    isImported: true,
  } as const
  await store.importSecretKeys([{ accountId: cyd.id, secretKey: imported, keysMax: 20 }])

  const linked = (await store.findAccount(ada.id)) ?? ada
  const rotated = await startSession(store, linked)
  await store.rotateSession(useOf(rotated))
  await store.acknowledgeRotations([{ sessionId: rotated.id, generation: 2, at: now + second }])
  const lost = await startSession(store, linked)
  await store.rotateSession(useOf(lost))
  const ended = await startSession(store, linked)
  await store.endSession(ended.id, 'revoked', newAuditEntry({ action: 'session-ended' }))
  const reused = await startSession(store, linked)
  await store.endSession(reused.id, 'reused')
  const portalSession = await startPortalSession(store, linked)
  await store.touchPortalSession(ada.id, portalSession.id, {
    at: now + second,
    address: '::1',
    userAgent: 'curl',
  })
  await store.recordKeyUses([
    {
      accountId: ada.id,
      digest: Buffer.from(ada.apiKey.digest).toString('base64url'),
      at: now,
      address: '::1',
      scheme: 'accessToken',
    },
  ])

  await store.admitUsagePrincipals([principalId, 'corp:'], today)
  await store.addUsage(
    newUsageBatch([
      newUsage(ada, { requests: 3, units: 300 }),
      newUsage(ada, { day: today - 40, key: 'ci', route: 'a\u00e9' }),
      newUsage(cyd, { day: today - 1 }),
      newUsage({ id: principalId }, { key: '' }),
    ]),
  )
  const window = quotaWindow('month', now)
  for (const subject of [ada.id, principalId, keyQuotaSubject(cyd.id, keyQuota)])
    await store.takeQuota(newQuotaTake({ subject, ...window, now, needed: 5, ahead: 50 }))

  const key = newSigningKey()
  await store.addSigningKey(key, {
    audit: newAuditEntry({ action: 'signing-key-added', target: undefined }),
  })
  await store.addSigningKey(newSigningKey({ algorithm: 'HS256', publicKey: undefined, createdAt: now + 1 }))
  for (const index of [1, 2])
    await store.blockSubject({ principalId: `corp:${index}`, blockedAt: now + index })
  for (const at of [now, now - second, now + second]) {
    const actor = {
      kind: 'account',
      channel: 'portal',
      id: ada.id,
      email: ada.email,
      address: '::1',
    } as const
    await store.appendAudit(newAuditEntry({ at, actor, target: ada }))
    await store.appendAudit(newAuditEntry({ at, details: { text: 'é\u2028"' } }))
  }
  await store.deleteAccount((await createAccount(store)).id)
  const accounts = [linked, bob, cyd]
  return { accounts, sessionIds: [rotated.id, lost.id, ended.id, reused.id] }
}

/** What the verbs of a store say of all that was filled in. */
export async function contentOf(store: Store, { accounts, sessionIds }: Filled) {
  const ids = [...accounts.map(({ id }) => id), principalId]
  const days = { from: today - 400, to: today }
  const windows = quotaWindow('month', now).window
  const eachOf = <Value>(work: (id: string) => Promise<Value>) => Promise.all(ids.map(work))
  return {
    accounts: await store.listAccounts({ after: undefined, limit: 100 }),
    byEmail: (await store.findAccountByEmail('ADA@example.com'))?.id,
    byIdentity: (await store.findAccountByIdentity({ ...person, subject: 'cyd' }))?.id,
    found: (await store.searchAccounts({ words: ['lovelace'], after: undefined, limit: 100 })).accounts,
    imported: await store.hasImportedKeys(),
    sessions: await Promise.all(sessionIds.map((id) => store.findSession(id))),
    open: await eachOf((id) => store.listSessions(id, { now, limit: 100 })),
    portalSessions: await eachOf((id) => store.listPortalSessions(id, now)),
    uses: await eachOf(async (id) => [...(await store.findKeyUses(id))]),
    usage: await eachOf((id) => store.readUsage(id, days)),
    principals: (await store.listUsagePrincipals(undefined)).ids.toSorted(),
    quotas: await eachOf(async (id) => {
      const { granted, holders } = await store.readQuota(id, windows)
      return { granted, holders: [...holders] }
    }),
    signingKeys: await store.listSigningKeys(),
    blocked: await store.listBlockedSubjects({ after: undefined, limit: 100 }),
    audit: (await listAudit(store, { before: undefined, limit: 1_000 })).map(
      ({ position: _, ...entry }) => entry,
    ),
    chains: await store.readAuditChains(),
  }
}
