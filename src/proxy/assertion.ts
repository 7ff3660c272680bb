import type { Principal } from '../auth/principal.ts'

/** The header of an assertion, and what makes one. */
export interface AssertionHeader {
  readonly header: string
  /** @throws GatehouseError `store-unavailable` where none can be signed */
  of(principal: Principal, upstream: string): string
}
