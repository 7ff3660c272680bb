/** At the beginning of a field, or of an element of a list: `Nego2` was the name of a draft of Negotiate. */
const scheme = /(?:^|[ \t,])(?:ntlm|nego)/i
const upperN = 0x4e
const lowerN = 0x6e

/**
 * Whether the value of Authorization, WWW-Authenticate or of their Proxy forms names NTLM or Negotiate. These
 * authenticate a connection instead of a request (RFC 4559 6): whatever comes on it later has the same user. So the
 * connection to the upstream serves nobody but the client connection from which it came.
 */
export function bindsConnection(value: string): boolean {
  const first = value.charCodeAt(0)
  // Nearly always it is one credential of another scheme, and a long one.
  if (first !== upperN && first !== lowerN && !value.includes(',')) return false
  return scheme.test(value)
}
