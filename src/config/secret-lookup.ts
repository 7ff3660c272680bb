import type { TlsVerification } from '../platform/certificate-authorities.ts'
import type { SecretReference } from './schema/fields.ts'

/** How a secret and a relative path are looked up. */
export interface SecretLookup {
  secret(reference: SecretReference): string
  resolvePath(path: string): string
}

/** The certificates to trust, with the CA read. */
export function resolveTls(
  { verify, ca }: { readonly verify: boolean; readonly ca?: SecretReference },
  lookup: SecretLookup,
): TlsVerification {
  return { verify, ca: ca && lookup.secret(ca) }
}
