import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { createRefreshTokens, openAcknowledgements } from '#identity/tokens/refresh-tokens.ts'
import {
  createKeyPairCheck,
  createSessionStart,
  type SessionStartOptions,
} from '#identity/tokens/session-start.ts'
import { createSessions, type SessionsOptions } from '#identity/tokens/sessions.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import type { Store } from '#store/store.ts'
import { actsOn } from '../../accounts/account-actions.ts'
import { until } from '../../setup/net.ts'
import { visitor } from '../../store/samples.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'
import { createBench, newSigningKey, startS } from './forged-tokens.ts'

/**
 * Sessions on a real store, with one clock for all.
 * @param behind what stands before the store, such as a failure
 */
export async function openSessions(
  t: Test,
  {
    admit = async () => {},
    ...options
  }: Partial<SessionsOptions> & Partial<Pick<SessionStartOptions, 'admit'>> = {},
  behind: (store: Store) => Store = (store) => store,
) {
  const store = behind(await (await newSqlitePlace(t)).open())
  const sealingKey = randomBytes(32)
  const time = { nowMs: startS * 1_000 }
  const clock = () => time.nowMs
  const { accessTokens, keyring } = createBench([newSigningKey('key')], { clock })
  const acknowledgements = openAcknowledgements({
    store,
    onLoss: (error) => {
      throw error
    },
  })
  const sessions = createSessions({
    store,
    accessTokens,
    refreshTokens: createRefreshTokens(sealingKey),
    refreshLifetimeMs: 30 * 86_400_000,
    refreshIdleMs: 7 * 86_400_000,
    reuseGraceMs: 10_000,
    startSession: createSessionStart({
      store,
      findOwner: createKeyPairCheck(store, clock),
      openMax: 100,
      admit,
      clock,
    }),
    needsEnrolment: () => false,
    acknowledgements,
    clock,
    ...options,
  })
  const { accounts, keys } = actsOn(store, {
    sealer: createSealer(sealingKey),
    reveal: true,
    prefix: 'gate',
    clock,
  })
  let created = 0
  const createAccount = () => {
    created++
    const email = `user${created}@example.com`
    return accounts.create({ email, firstName: '', lastName: '', role: 'User', isVerified: true })
  }
  /** Refreshes, as a client does that gets the answer. */
  async function refresh(refreshToken: string) {
    const issued = await sessions.refresh(refreshToken, visitor)
    issued.acknowledge()
    await until('it is noted', () => acknowledgements.pendingCount() === 0 || undefined)
    return issued
  }
  return {
    refresh,
    acknowledgements,
    store,
    accounts,
    keys,
    accessTokens,
    keyring,
    sessions,
    time,
    createAccount,
  }
}

/** The code that some work is refused with; what it gave where it is not refused. */
export async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.catch((error: unknown) => (error instanceof GatehouseError ? error.code : error))
}
