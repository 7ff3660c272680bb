import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createListeners } from '#platform/listeners.ts'

/** Diagnostics of a store: write probes and risky settings. */
export interface StoreDiagnostics {
  /** Makes a write that changes no data. @throws GatehouseError `store-unavailable` where the write fails */
  probeWrite(): Promise<void>
  /** Called after each write, with whether the store accepted it. */
  onWrite(listener: (isAccepted: boolean) => void): void
  /** Settings with which data can be lost, as texts for an operator; empty = none. @throws as `probeWrite` */
  findRisks(): Promise<readonly string[]>
}

/** `degraded`: the store is unreachable, but known principals are served from caches. */
export type StoreHealth = 'ok' | 'degraded' | 'store-unavailable'

/** State of the store as reported to operators, as plain JSON. */
export interface StoreState {
  /** Why it rejects writes; null = it accepts them, or is unreachable. */
  readonly writesRefused: string | null
  /** See `findRisks`. */
  readonly risks: readonly string[]
}

export function createWriteListeners() {
  const { notify, add } = createListeners<boolean>()

  /** Reports the outcome of a write; its result or error passes through unchanged. */
  async function report<Result>(write: Promise<Result>): Promise<Result> {
    try {
      const result = await write
      notify(true)
      return result
    } catch (error) {
      notify(false)
      throw error
    }
  }

  return { report, onWrite: add }
}

/**
 * `unreachable`: the store was not asked · `refused`: it refused · `unanswered`: it was asked, and did not respond ·
 * `unconfirmed`: a write may or may not have succeeded · `lost`: it has lost its data · `newer`: its data is of a newer
 * version. The last two tell an operator what to do.
 */
type StoreFailureKind = 'unreachable' | 'refused' | 'unanswered' | 'unconfirmed' | 'lost' | 'newer'

/** Why a store failed: the cause of `store-unavailable`, worded for operators rather than by the driver. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure'
  readonly kind: StoreFailureKind

  constructor(kind: StoreFailureKind, message: string) {
    super(message)
    this.kind = kind
  }
}

/** The error of a verb that could not be carried out. */
export function storeUnavailable(kind: StoreFailureKind, message: string): GatehouseError {
  return new GatehouseError('store-unavailable', { cause: new StoreFailure(kind, message) })
}

/** Whether an error of a verb means that the store failed in one of these ways. */
export function isStoreFailure(
  error: unknown,
  ...kinds: readonly StoreFailureKind[]
): error is GatehouseError & { readonly cause: StoreFailure } {
  const { cause } = error instanceof GatehouseError ? error : {}
  return cause instanceof StoreFailure && kinds.includes(cause.kind)
}
