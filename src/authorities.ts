import { getCACertificates, setDefaultCACertificates } from 'node:tls'

/** How a server that is connected to with TLS is verified. */
export interface Verification {
  /** Whether its certificate is checked. */
  readonly verify: boolean
  /** PEM; undefined = the certificates of the system. */
  readonly ca: string | undefined
}

let areTrusted = false

/**
 * Lets servers be verified against the authorities of the system: by itself Node knows only those that it came with.
 * For all that names none of its own from then on; done once, and only where it is needed, as reading them takes long.
 */
export function trustSystemAuthorities(): void {
  if (areTrusted) return
  areTrusted = true
  setDefaultCACertificates([...new Set([...getCACertificates('default'), ...getCACertificates('system')])])
}
