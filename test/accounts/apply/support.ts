import { createHash, randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { createAccounts } from '#accounts/accounts.ts'
import { type Apply, type ApplyRequest, createApply } from '#accounts/apply/apply.ts'
import type { DesiredState } from '#accounts/apply/desired-state.ts'
import { createAuditEntryFactory } from '#accounts/audit-log.ts'
import { createSecretKeys } from '#accounts/keys/secret-keys.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import type { Actor } from '#store/audit-entry.ts'
import type { Store } from '#store/store.ts'
import { emptiedPlaces } from '../../store/redis/place.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'

export const placesOf = { sqlite: async () => newSqlitePlace, redis: emptiedPlaces } as const

const system: Actor = { kind: 'system', channel: 'system' }

/** `apply` on a store, with the other parts that tests need; an account may have four secret keys. */
export function applyOn(store: Store, { by = system, now = 1_700_000_000_000 } = {}) {
  const time = { now }
  const sealer = createSealer(randomBytes(32))
  const keyOptions = { sealer, reveal: true, prefix: 'gate', clock: () => time.now }
  const entry = createAuditEntryFactory(by, keyOptions.clock)
  const accounts = createAccounts({ ...keyOptions, store, by, planNames: ['free', 'pro'] })
  const common = { ...keyOptions, store, accounts, by, entry, keysMax: 4 }
  const secretKeys = createSecretKeys(common)
  const apply: Apply = createApply({ ...common, secretKeys })

  function run(state: DesiredState, request: Partial<ApplyRequest> = {}) {
    return apply.run(state, { isDryRun: false, prune: undefined, accountsMax: 100, ...request })
  }

  return { store, time, accounts, secretKeys, run }
}

export async function openApply(t: Test, driver: keyof typeof placesOf = 'sqlite') {
  return applyOn(await (await (await placesOf[driver](t))(t)).open())
}

export function sha256Of(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** The code of a refusal, and its field errors. */
export async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(error instanceof GatehouseError)) return error
  return error.code === 'request-invalid' ? (error.errors ?? []).map(({ field }) => field) : error.code
}
