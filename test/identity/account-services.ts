import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createAccountActions } from '#accounts/account-actions.ts'
import type { SendMail } from '#accounts/mails/mail.ts'
import { openRateLimiter } from '#identity/limits/rate-limiter.ts'
import { createPasswordCheck } from '#identity/passwords/password-check.ts'
import { createKnownClients, createPortalSessions } from '#identity/portal/portal-sessions.ts'
import { createSignIn } from '#identity/portal/sign-in.ts'
import { createPasskeys } from '#identity/second-factor/passkeys.ts'
import { createSecondFactors } from '#identity/second-factor/second-factors.ts'
import { createPasswords } from '#platform/secrets/passwords.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import type { Actor } from '#store/audit-entry.ts'
import { openSqliteStore } from '#store/sqlite/store.ts'

export const visitor = { address: '192.0.2.1', userAgent: 'Browser/1' }
export const system: Actor = { kind: 'system', channel: 'system' }
/** Of the portal, for passkeys. */
export const relyingParty = { id: 'api.example.com', name: 'Gatehouse', origin: 'https://api.example.com' }
export const lifetimeMs = 3_600_000
export const password = 'correct horse battery'

const cheap = { memoryKiB: 64, passes: 1, parallelism: 1 }

/** The people of a real store, at a clock that is set by hand; something else may happen while a password is hashed. */
export function openPeople(
  t: Test,
  { failureLimit = 1_000, sendMail }: { failureLimit?: number; sendMail?: SendMail } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-people-'))
  const store = openSqliteStore({ path: join(folder, 'gatehouse.db'), busyTimeoutMs: 1_000 })
  const time = { now: 1_800_000_000_000 }
  const clock = () => time.now
  const limiter = openRateLimiter({
    store,
    storeConnection: { isUp: false },
    monotonic: clock,
    onStoreFailure: () => {},
  })
  t.teardown(async () => {
    limiter.close()
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const pepper = Buffer.alloc(32, 1)
  const passwords = createPasswords({ pepper, parameters: cheap })
  const meanwhile = { afterHash: async () => {} }
  const failures = { limit: failureLimit, perMs: 60_000 }
  const check = createPasswordCheck({ store, passwords, limiter, failures, clock })
  const factorParts = { store, check, keys: Buffer.alloc(32, 5), clock }
  const knownClients = createKnownClients(Buffer.alloc(32, 3))
  const sessions = createPortalSessions({
    store,
    hasTokenCookies: true,
    knownClients,
    sessionLifetimeMs: lifetimeMs,
    clock,
  })
  const signIn = createSignIn({
    store,
    sessions,
    knownClients,
    clock,
    factors: createSecondFactors({
      ...factorParts,
      sealer: createSealer(Buffer.alloc(32, 4)),
      issuer: 'api.example.com',
    }),
    passkeys: createPasskeys({ ...factorParts, limiter, failures, relyingParty }),
    passwords: {
      ...passwords,
      hash: async (...asked) => {
        const hashed = await passwords.hash(...asked)
        await meanwhile.afterHash()
        return hashed
      },
    },
    check,
  })
  const actsOf = createAccountActions({
    store,
    limiter,
    clock,
    sendMail,
    deliverSetupMail: sendMail,
    sealer: createSealer(Buffer.alloc(32, 2)),
    keysMax: 20,
    reveal: true,
    plans: {},
    readQuotaUsed: async () => 0,
    prefix: 'gate',
    setupLinkLifetimeMs: 86_400_000,
    refreshIdleMs: 7 * 86_400_000,
    portalUrl: 'https://api.example.com/portal',
  })
  const acts = actsOf(system)

  async function createPerson(input: { email?: string; role?: string } = {}) {
    const profile = { firstName: 'Ada', lastName: '', role: 'User', isVerified: true }
    const { account } = await acts.accounts.create({ email: 'ada@example.com', ...profile, ...input })
    const { token } = await acts.setupLinks.create(account.id)
    const signedIn = await signIn.redeemLink({ token, password }, visitor)
    if (!signedIn) throw new Error('a new account has no second factor')
    return { id: account.id, email: account.email, signedIn }
  }

  return { store, time, signIn, sessions, knownClients, acts, actsOf, pepper, meanwhile, createPerson }
}
