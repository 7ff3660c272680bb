/** Entry point `@gatehouse-proxy/gateway/verify`. */
export {
  expressIdentity,
  fastifyIdentity,
  fetchIdentity,
  type Identified,
  verifyRequest,
} from './verify/adapters.ts'
export {
  AssertionError,
  type AssertionErrorCode,
  createVerifier,
  type Identity,
  type Verifier,
  type VerifierOptions,
} from './verify/verifier.ts'
