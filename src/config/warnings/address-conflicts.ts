import { isLoopback, isWildcardAddress, normalizeHost } from '#platform/addresses.ts'
import type { Warning } from '../problem.ts'
import type { ConfigTree } from '../schema/schema.ts'

/** Addresses and ports that are valid by themselves, but conflict with each other. */
export function findAddressConflicts(tree: ConfigTree): Warning[] {
  return [
    ...portMismatch(tree),
    ...loopbackPublicUrl(tree),
    ...untrustedTerminator(tree),
    ...exposedOps(tree),
    ...selfTargets(tree),
  ]
}

/** Without a proxy in front of the gateway, clients use the port that it listens on. */
function portMismatch({ publicUrl, listen, trustedProxies }: ConfigTree): Warning[] {
  const url = new URL(publicUrl)
  const isBehindProxy = trustedProxies.length > 0 || (url.protocol === 'https:' && !listen.tls)
  if (!isLoopback(url.hostname) || isBehindProxy) return []
  if (listen.port === 0 || portOf(url) === listen.port) return []
  const message = `has port ${portOf(url)}, but listen.port is ${listen.port}, so links are broken and the portal rejects forms`
  return [{ path: ['publicUrl'], message, hint: 'use the same port for both' }]
}

/** Clients elsewhere would take a loopback origin for their own machine. */
function loopbackPublicUrl({ publicUrl, listen, portal }: ConfigTree): Warning[] {
  if (!portal.enabled || isLoopback(listen.host) || !isLoopback(new URL(publicUrl).hostname)) return []
  const message =
    'works only for browsers on this machine, but listen.host lets other machines connect, which cannot use the portal'
  return [{ path: ['publicUrl'], message, hint: 'set the URL that clients use' }]
}

/** Something in front of the gateway speaks https with clients, but nothing that it reports about them is trusted. */
function untrustedTerminator({ publicUrl, listen, trustedProxies }: ConfigTree): Warning[] {
  if (listen.tls || new URL(publicUrl).protocol !== 'https:' || trustedProxies.length > 0) return []
  const message =
    'is empty, but publicUrl is https and there is no listen.tls: all clients seem to have the address of the proxy that terminates TLS, in limits and in the log'
  return [{ path: ['trustedProxies'], message, hint: 'list its address' }]
}

function exposedOps({ ops }: ConfigTree): Warning[] {
  if (isLoopback(ops.host)) return []
  const message = 'anyone who reaches this address can read all metrics and POST /reload'
  const hint = 'bind it to a private address, or restrict access to your monitoring'
  return [{ path: ['ops', 'host'], message, hint }]
}

function selfTargets({ upstreams, listen }: ConfigTree): Warning[] {
  return Object.entries(upstreams).flatMap(([name, { targets }]) =>
    [...targets.entries()]
      .filter(([, { url }]) => isSelf(new URL(url), listen))
      .map(([index]) => ({
        path: ['upstreams', name, 'targets', index, 'url'],
        message: 'is the gateway itself, so requests would loop',
        hint: 'use the address of a backend',
      })),
  )
}

function isSelf(url: URL, { host, port }: ConfigTree['listen']): boolean {
  if (url.protocol === 'unix:' || portOf(url) !== port) return false
  // A connection to `0.0.0.0` or `::` goes to this machine.
  const isLocal = isLoopback(url.hostname) || isWildcardAddress(url.hostname)
  return normalizeHost(url.hostname) === normalizeHost(host) || (isLocal && isWildcardAddress(host))
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

/** Upstreams with fewer `connections` than the requests that a client may have open on one HTTP/2 connection. */
export function findNarrowUpstreams({
  limits,
  listen,
  upstreams,
}: Pick<ConfigTree, 'limits' | 'listen' | 'upstreams'>): Warning[] {
  if (!listen.http2) return []
  return Object.entries(upstreams)
    .filter(([, { connections }]) => limits.streams >= connections)
    .map(([name, { connections }]) => ({
      path: ['upstreams', name, 'connections'],
      message: `one client connection of HTTP/2 may have ${limits.streams} requests open (limits.streams), and this upstream takes ${connections} at a time: the others wait, and may get 503`,
      hint: 'set limits.streams below connections',
    }))
}
