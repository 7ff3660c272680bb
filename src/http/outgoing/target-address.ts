import { isIP } from 'node:net'
import { withoutBrackets } from '#platform/addresses.ts'

/** Where a target listens, and what it is called. */
export interface TargetAddress {
  readonly isTls: boolean
  /** What is connected to: a host, without brackets, and a port, or the path of a Unix socket. */
  readonly endpoint: { readonly host: string; readonly port: number } | { readonly path: string }
  /** The name that its certificate is to have; undefined = its address. */
  readonly serverName: string | undefined
  /** As in a Host header: `10.0.0.11:3000`; `localhost` for a Unix socket. */
  readonly authority: string
  /** As in a Location header: `http://10.0.0.11:3000`. */
  readonly origin: string
  /** Precedes the path of every request: `/base`; empty = nothing. */
  readonly basePath: string
  /** For operators, in logs, metrics and the status: `http://10.0.0.11:3000/base`, `unix:/run/app.sock`. */
  readonly name: string
}

/** @param url `http:`, `https:` with a base path or none, or `unix:` with the path of a socket */
export function readTargetAddress(url: URL): TargetAddress {
  if (url.protocol === 'unix:') return unixAddress(decodeURIComponent(url.pathname))
  const isTls = url.protocol === 'https:'
  const { host, hostname, origin, port } = url
  const plainHost = withoutBrackets(hostname)
  const basePath = url.pathname.replace(/\/$/, '')
  return {
    isTls,
    endpoint: { host: plainHost, port: Number(port || (isTls ? 443 : 80)) },
    // A server name is a name, never an address (RFC 6066 3).
    serverName: isIP(plainHost) === 0 ? plainHost : undefined,
    authority: host,
    origin,
    basePath,
    name: origin + basePath,
  }
}

/** A Unix socket has no host name: requests name `localhost`, and so do URLs that the backend makes of itself. */
function unixAddress(path: string): TargetAddress {
  return {
    isTls: false,
    endpoint: { path },
    serverName: undefined,
    authority: 'localhost',
    origin: 'http://localhost',
    basePath: '',
    name: `unix:${path}`,
  }
}
