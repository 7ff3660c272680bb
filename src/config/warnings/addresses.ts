import { isEveryAddress, isLoopback, plainHost } from '../host.ts'
import type { ConfigTree } from '../schema/schema.ts'
import type { Warning } from './warning.ts'

/** Addresses and ports that are valid by themselves, but do not fit together. */
export function findOddAddresses(tree: ConfigTree): Warning[] {
  return [...otherPort(tree), ...browsersElsewhere(tree), ...openOps(tree), ...ownTargets(tree)]
}

/** Without a proxy in front of the gateway, clients use the port that it listens on. */
function otherPort({ publicUrl, listen, trustedProxies }: ConfigTree): Warning[] {
  const url = new URL(publicUrl)
  const isBehindProxy = trustedProxies.length > 0 || (url.protocol === 'https:' && !listen.tls)
  if (!isLoopback(url.hostname) || isBehindProxy) return []
  if (listen.port === 0 || portOf(url) === listen.port) return []
  const message = `has port ${portOf(url)}, but listen.port is ${listen.port}, so links lead nowhere and the portal refuses forms: give both the same port`
  return [{ path: ['publicUrl'], message }]
}

/** Clients elsewhere would take a loopback origin for their own machine. */
function browsersElsewhere({ publicUrl, listen, portal }: ConfigTree): Warning[] {
  if (!portal.enabled || isLoopback(listen.host) || !isLoopback(new URL(publicUrl).hostname)) return []
  const message =
    'works only for browsers on this machine, but listen.host lets other machines connect, which cannot use the portal: give the URL that clients use'
  return [{ path: ['publicUrl'], message }]
}

function openOps({ ops }: ConfigTree): Warning[] {
  if (isLoopback(ops.host)) return []
  const message =
    'anyone who reaches this address can read all metrics and POST /reload: keep it on a private address, or let only your monitoring in'
  return [{ path: ['ops', 'host'], message }]
}

function ownTargets({ upstreams, listen }: ConfigTree): Warning[] {
  return Object.entries(upstreams).flatMap(([name, { targets }]) =>
    [...targets.entries()]
      .filter(([, { url }]) => isOwn(new URL(url), listen))
      .map(([index]) => ({
        path: ['upstreams', name, 'targets', index, 'url'],
        message: 'is the gateway itself, so requests would loop: give the address of a backend',
      })),
  )
}

function isOwn(url: URL, { host, port }: ConfigTree['listen']): boolean {
  if (portOf(url) !== port) return false
  // A connection to `0.0.0.0` or `::` goes to this machine.
  const isHere = isLoopback(url.hostname) || isEveryAddress(url.hostname)
  return plainHost(url.hostname) === plainHost(host) || (isHere && isEveryAddress(host))
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}
