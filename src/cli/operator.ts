import { userInfo } from 'node:os'
import type { AccountActions } from '#accounts/account-actions.ts'
import { type AuditEntryFactory, createAuditEntryFactory } from '#accounts/audit-log.ts'
import type { ReceiverActions } from '#accounts/events/receiver-actions.ts'
import { UnconfirmedKeys } from '#accounts/keys/make-key.ts'
import { createQuotaReader } from '#accounts/usage/plan-reports.ts'
import type { Config } from '#config/config.ts'
import { type ConfigInput, loadConfig } from '#config/load.ts'
import { type BlockedSubjects, createBlockedSubjects } from '#identity/issuers/subjects.ts'
import { createSigningKeys, type SigningKeys } from '#identity/tokens/signing-keys.ts'
import { createPasswords, type Passwords } from '#platform/secrets/passwords.ts'
import { createSealer, deriveKeys } from '#platform/secrets/sealing.ts'
import { monotonicClock } from '#platform/time.ts'
import { createActionsFrom } from '#runtime/assembly/account-services.ts'
import { createReceiversFrom } from '#runtime/assembly/events.ts'
import { loadSealingKeys } from '#runtime/assembly/sealing-keys.ts'
import type { Actor } from '#store/audit-entry.ts'
import { createLocalRates } from '#store/local-rates.ts'
import { openStore } from '#store/open.ts'
import type { Store } from '#store/store.ts'

/** What operator commands work with: the domain functions of the gateway, on its store. */
export interface Operator extends AccountActions {
  readonly config: Config
  readonly store: Store
  readonly signingKeys: SigningKeys
  readonly subjects: BlockedSubjects
  readonly receivers: ReceiverActions
  readonly passwords: Passwords
  readonly auditEntry: AuditEntryFactory
}

/** How long a store may take for its first response: with Sentinel or Cluster the node is discovered first. */
const storeTimeoutMs = { direct: 1_500, discovered: 5_000 } as const

/**
 * Runs some work with the store of the config, and closes the store afterwards.
 * @throws OperatorError if config, sealing key or store is not available
 * @throws GatehouseError `store-unavailable` if the store has lost its data, or is being restored
 */
export async function withOperator<Result>(
  input: ConfigInput,
  work: (operator: Operator) => Promise<Result>,
  actor: Actor = currentUser(),
): Promise<Result> {
  const { config } = loadConfig(input)
  return withStore(config, async (store) => {
    // Refuses what is there of a restore that has not finished: the next one removes it, with all that was changed.
    // No entry is asked for: the state of the log is enough.
    await store.readChanges(Number.MAX_SAFE_INTEGER)
    const { keys: sealingKeys } = await loadSealingKeys(config, store)
    const sealer = createSealer(sealingKeys)
    const clock = Date.now
    const actionsOf = createActionsFrom({
      config,
      store,
      sealingKeys,
      limiter: createLocalRates(monotonicClock),
      readQuotaUsed: createQuotaReader(store),
      clock,
    })
    return await work({
      ...actionsOf(actor),
      config,
      store,
      subjects: createBlockedSubjects({ store, issuers: config.issuers, clock })(actor),
      receivers: createReceiversFrom({ config, store, clock })(actor),
      passwords: createPasswords({ pepper: deriveKeys(sealingKeys, 'password') }),
      auditEntry: createAuditEntryFactory(actor, clock),
      signingKeys: createSigningKeys({ store, sealer, algorithm: config.tokens.algorithm, clock }),
    })
  })
}

/** Runs some work that needs only the store, and closes it afterwards. @throws OperatorError if it is not available */
export async function withStore<Result>(
  config: Config,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(config.store, 'command')
  try {
    await store.ready(storeTimeoutFor(config))
    return await work(store)
  } finally {
    await store.close()
  }
}

function storeTimeoutFor({ store }: Config): number {
  const isDirect = store.driver === 'sqlite' || store.topology.kind === 'single'
  return isDirect ? storeTimeoutMs.direct : storeTimeoutMs.discovered
}

/** The user that runs the command, as the operating system names them. */
export function currentUser(): Actor {
  const operator = { kind: 'operator', channel: 'cli' } as const
  try {
    return { ...operator, name: userInfo().username }
  } catch {
    // In a container the user may have no name.
    return { ...operator, name: String(process.getuid?.() ?? 'unknown') }
  }
}

/**
 * As `withOperator`, for work that encrypts, or hashes a password: the gateway could never read what another sealing
 * key encrypted, nor verify what it hashed.
 */
export function withSealingOperator<Result>(
  input: ConfigInput,
  work: (operator: Operator) => Promise<Result>,
): Promise<Result> {
  return withOperator(input, async (operator) => {
    await operator.signingKeys.assertReadable()
    return work(operator)
  })
}

/**
 * Waits for work that creates keys: keeps those of an unconfirmed change, as they could not be shown again.
 * @returns `unconfirmed` says why it is not known whether they were saved; undefined = they were
 */
export async function keepUnconfirmedKeys<Made>(
  work: Promise<Made>,
): Promise<{ readonly result: Made; readonly unconfirmed: UnconfirmedKeys | undefined }> {
  try {
    return { result: await work, unconfirmed: undefined }
  } catch (error) {
    if (!(error instanceof UnconfirmedKeys)) throw error
    // The cast is sound: it contains what the work would have returned.
    return { result: error.result as Made, unconfirmed: error }
  }
}
