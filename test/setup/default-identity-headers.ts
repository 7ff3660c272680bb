/** The names of identity headers that no client can send, whatever is configured. */
export const defaultIdentityHeaders: readonly string[] = [
  'X-User-Id',
  'X-User-Role',
  'X-User-Email',
  'X-User-Verified',
  'X-User-Name',
  'X-User-Session',
  'X-User-Scheme',
  'X-User-Key',
  'X-User-Scopes',
  'X-User-Plan',
  'X-User-Issuer',
  'X-Gatehouse-Assertion',
]
