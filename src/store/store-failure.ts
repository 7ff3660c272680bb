import { GatehouseError } from '../errors.ts'

/**
 * `unreachable`: it was not asked · `refused`: it would not · `unanswered`: it was asked, and said nothing ·
 * `unconfirmed`: a change may have been made, and may not last · `lost`: it has no longer what it had.
 */
export type StoreFailureKind = 'unreachable' | 'refused' | 'unanswered' | 'unconfirmed' | 'lost'

/** Why a store could not answer: the cause of its `store-unavailable`, in words for an operator, not a driver's. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure'
  readonly kind: StoreFailureKind

  constructor(kind: StoreFailureKind, message: string) {
    super(message)
    this.kind = kind
  }
}

/** Whether an error of a verb says that the store failed in this way. */
export function isStoreFailure(
  error: unknown,
  kind: StoreFailureKind,
): error is GatehouseError & { readonly cause: StoreFailure } {
  const { cause } = error instanceof GatehouseError ? error : {}
  return cause instanceof StoreFailure && cause.kind === kind
}
