/** Entry point `@gatehouse-proxy/gateway/verify`. */
export {
  expressIdentity,
  fastifyIdentity,
  fetchIdentity,
  type Identified,
  verifyRequest,
} from './verify/adapters.ts'
export { AssertionError, type AssertionErrorCode } from './verify/assertion-error.ts'
export type { RevocableClaims, RevocationOptions } from './verify/revocations.ts'
export {
  createVerifier,
  type Identity,
  type Verifier,
  type VerifierOptions,
} from './verify/verifier.ts'
