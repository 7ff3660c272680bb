import { hideSecrets } from './hide-secrets.ts'

/** In the name of a header whose value is, or may be, a secret. `X-Author` names a person. */
const credentialName =
  /auth(?!ors?(?![a-z]))|cookie|secret|token|passw|api[-_]?key|[-_]key$|credential|signature|assertion/i
/** A scheme of `Authorization` (RFC 9110 11.4), or a URL with user information (RFC 3986 3.2.1). */
const credentialValue = /^(?:bearer|basic|digest|token|apikey|negotiate|ntlm)[ \t]|:\/\/[^/?#@]+@/i

/** Whether a header is likely to hold a credential, by its name or by what it says; it is not shown then. */
export function isCredentialField(name: string, value: string): boolean {
  return credentialName.test(name) || credentialValue.test(value) || hideSecrets(value) !== value
}
