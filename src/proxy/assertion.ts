import type { Principal } from '../auth/principal.ts'

type WriteIdentity = (principal: Principal, upstream: string) => string

/** The header of an assertion, and what makes one. */
export interface AssertionHeader {
  readonly header: string
  /** @throws GatehouseError `store-unavailable` where none can be signed */
  of(principal: Principal, upstream: string): string
}

/** Writes an assertion behind the identity. @param assertion undefined = none is written */
export function withAssertion(
  writeIdentity: (principal: Principal) => string,
  assertion: AssertionHeader | undefined,
): WriteIdentity {
  if (!assertion) return writeIdentity
  return (principal, upstream) =>
    `${writeIdentity(principal)}${assertion.header}: ${assertion.of(principal, upstream)}\r\n`
}
