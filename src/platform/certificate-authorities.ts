import { getCACertificates, setDefaultCACertificates } from 'node:tls'

/** How a server that is connected to with TLS is verified. */
export interface TlsVerification {
  /** Whether its certificate is checked. */
  readonly verify: boolean
  /** PEM; undefined = the certificates of the system. */
  readonly ca: string | undefined
}

let areTrusted = false

/**
 * Makes the authorities of the system trusted too: by itself Node knows only those that it came with. From then on it
 * holds for all connections without a CA of their own; done once, and only when needed, as reading them takes long.
 */
export function trustSystemAuthorities(): void {
  if (areTrusted) return
  areTrusted = true
  setDefaultCACertificates([...new Set([...getCACertificates('default'), ...getCACertificates('system')])])
}
