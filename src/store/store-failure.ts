import { GatehouseError } from '#platform/errors/gatehouse-error.ts'

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
