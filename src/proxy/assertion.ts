import type { Principal } from '../auth/principal.ts'

/** The header that carries an assertion, and the function that signs one. */
export interface AssertionHeader {
  readonly header: string
  /** @throws GatehouseError `store-unavailable` where no assertion can be signed */
  of(principal: Principal, upstream: string): string
}
