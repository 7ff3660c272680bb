import { getCACertificates, setDefaultCACertificates } from 'node:tls'

/** How the server of a TLS connection is verified. */
export interface TlsVerification {
  /** Whether its certificate is checked. */
  readonly verify: boolean
  /** PEM; undefined = the certificates of the system. */
  readonly ca: string | undefined
}

let areTrusted = false

/**
 * Adds the system's certificate authorities to those that Node ships with, for all connections without their own CA.
 * Done once, and only when needed, as reading them is slow.
 */
export function trustSystemAuthorities(): void {
  if (areTrusted) return
  areTrusted = true
  setDefaultCACertificates([...new Set([...getCACertificates('default'), ...getCACertificates('system')])])
}
