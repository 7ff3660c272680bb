import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { createSealer } from '../../src/accounts/sealing.ts'
import { GatehouseError } from '../../src/errors.ts'
import { createRefreshTokens } from '../../src/tokens/refresh-token.ts'
import { createSessions, type SessionsOptions } from '../../src/tokens/sessions.ts'
import { actsOn } from '../accounts/acts.ts'
import { newSqlitePlace } from '../store/sqlite/place.ts'
import { createBench, newSigningKey, startS } from './forge.ts'

/** Sessions on a real store, with one clock for all. */
export async function openSessions(t: Test, options: Partial<SessionsOptions> = {}) {
  const store = await (await newSqlitePlace(t)).open()
  const sealingKey = randomBytes(32)
  const time = { nowMs: startS * 1_000 }
  const clock = () => time.nowMs
  const { accessTokens, keyring } = createBench([newSigningKey('key')], { clock })
  const sessions = createSessions({
    store,
    accessTokens,
    refreshTokens: createRefreshTokens(sealingKey),
    refreshLifetimeMs: 30 * 86_400_000,
    refreshIdleMs: 7 * 86_400_000,
    reuseGraceMs: 10_000,
    openMax: 100,
    admit: async () => {},
    clock,
    ...options,
  })
  const { accounts, keys } = actsOn(store, { sealer: createSealer(sealingKey), reveal: true, clock })
  let created = 0
  const createAccount = () => {
    created++
    const email = `user${created}@example.com`
    return accounts.create({ email, firstName: '', lastName: '', role: 'User', isVerified: true })
  }
  return { store, accounts, keys, accessTokens, keyring, sessions, time, createAccount }
}

/** The code that some work is refused with; what it gave where it is not refused. */
export async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.catch((error: unknown) => (error instanceof GatehouseError ? error.code : error))
}
