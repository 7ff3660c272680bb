import { type Accounts, createAccounts } from '../accounts/accounts.ts'
import { createSealer } from '../accounts/sealing.ts'
import { openSealingKey } from '../accounts/sealing-key.ts'
import type { Config } from '../config/config.ts'
import { type ConfigInput, loadConfig } from '../config/load.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { createSigningKeys, type SigningKeys } from '../tokens/signing-keys.ts'

/** What the commands of an operator work on: the same domain as the gateway's, on the same store. */
export interface Operator {
  readonly config: Config
  readonly store: Store
  readonly accounts: Accounts
  readonly signingKeys: SigningKeys
}

/** How long a store may take to answer at first: behind Sentinel or in a Cluster others are asked before it. */
const storePatienceMs = { direct: 1_500, byOthers: 5_000 } as const

/**
 * Opens the store of the config for the time of some work.
 * @throws OperatorError where config, sealing key or store cannot be had
 */
export async function withOperator<Result>(
  input: ConfigInput,
  work: (operator: Operator) => Promise<Result>,
): Promise<Result> {
  const config = loadConfig(input)
  const sealingKey = openSealingKey(config.keys.sealingKey, { mayMake: config.store.driver === 'sqlite' })
  const store = await openStore(config.store, 'command')
  try {
    await store.ready(patienceFor(config))
    const sealer = createSealer(sealingKey)
    const clock = Date.now
    return await work({
      config,
      store,
      accounts: createAccounts({ store, sealer, reveal: config.keys.reveal, clock }),
      signingKeys: createSigningKeys({ store, sealer, algorithm: config.tokens.algorithm, clock }),
    })
  } finally {
    await store.close()
  }
}

function patienceFor({ store }: Config): number {
  const isDirect = store.driver === 'sqlite' || store.place.kind === 'single'
  return isDirect ? storePatienceMs.direct : storePatienceMs.byOthers
}

/**
 * The same, for work that seals: with a sealing key that the gateway does not have, what it makes would
 * never be read.
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
