import { createSecureContext, type SecureContext } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { trustSystemAuthorities } from '#platform/certificate-authorities.ts'
import { errorMessage } from '#platform/errors/operator-error.ts'
import { type MonotonicClock, monotonicClock } from '#platform/time.ts'
import { openHttp1Connections } from '../outgoing/dial.ts'
import { openHttp2Connections } from '../outgoing/h2/opener.ts'
import { readTargetAddress, type TargetAddress } from '../outgoing/target-address.ts'
import { TargetHealth } from './health.ts'
import { Pool } from './pool/pool.ts'
import { followHost } from './resolve-host.ts'
import type { Target } from './target.ts'
import type { UpstreamConfig } from './upstream-config.ts'

/** The health of a target changed. */
export interface HealthChange {
  readonly upstream: string
  /** Its name. */
  readonly target: string
  readonly isHealthy: boolean
  /** For the log. */
  readonly reason: string
}

/** The addresses of a target's host name have changed, or the name no longer resolves. */
export interface AddressChange {
  readonly upstream: string
  /** Its name, as configured. */
  readonly target: string
  /** The current addresses; if the name stopped resolving, the last ones. */
  readonly addresses: readonly string[]
  /** Why it stopped resolving; undefined = it resolves. */
  readonly failure: string | undefined
}

interface TargetSetOptions extends TargetOpenerOptions {
  onAddressChange(change: AddressChange): void
  /**
   * Called when the targets have changed, or when a name could not be resolved the first time; never while opening.
   */
  onTargets(targets: readonly Target[]): void
  /** The upstream that this one replaces. */
  readonly previous: { readonly config: UpstreamConfig; targets(): readonly Target[] } | undefined
}

/** The targets of an upstream: those that are configured or, with `resolve: all`, one for each of their addresses. */
interface TargetSet {
  /** Never empty, if any are configured. */
  readonly targets: readonly Target[]
  /** All targets but those of a name that is still being resolved for the first time. */
  readonly settled: readonly Target[]
  close(): void
}

export function openTargetSet(config: UpstreamConfig, options: TargetSetOptions): TargetSet {
  const { previous, onTargets, onAddressChange, onHealthChange, monotonic } = options
  // With other health options the previous state does not apply.
  const hasSameHealth = isDeepStrictEqual(previous?.config.health, config.health)
  const before = previous?.targets() ?? []
  // Copied, so that the closures below do not keep the previous targets in memory.
  const knownAddresses = new Map(
    [...Map.groupBy(before, ({ configured }) => configured)].map(([name, each]) => [
      name,
      each.flatMap(({ address }) => address ?? []),
    ]),
  )
  // A target that is listed twice is still one server.
  const healths = new Map(hasSameHealth ? before.map(({ name, health }) => [name, health]) : [])
  const open = createTargetOpener(config, { monotonic, onHealthChange }, healths)
  const groups = config.targets.map(({ url, weight }) => {
    const address = readTargetAddress(url)
    const isFollowed = config.resolve === 'all' && address.serverName !== undefined
    return isFollowed ? followTarget(address, weight) : staticGroup(open(address, weight, address.name))
  })

  function followTarget(address: TargetAddress, weight: number): TargetGroup {
    const { name, serverName: host = '' } = address
    const known = [...new Set(knownAddresses.get(name))]
    const openAt = (ip: string) => open(atAddress(address, ip), weight, name)
    // Until it is resolved for the first time, the system looks the name up for each connection.
    let targets = known.length > 0 ? known.map(openAt) : [open(address, weight, name)]
    let isSettled = known.length > 0
    const changed = { upstream: config.name, target: name }
    const stop = followHost(host, known, {
      onAddresses: (addresses) => {
        isSettled = true
        const kept = targets.filter((target) => target.address && addresses.includes(target.address))
        const gone = targets.filter((target) => !kept.includes(target))
        const added = addresses.filter((ip) => !kept.some((target) => target.address === ip))
        targets = [...kept, ...added.map(openAt)]
        for (const { pool, name: goneName } of gone) {
          healths.delete(goneName)
          pool.close()
        }
        onAddressChange({ ...changed, addresses, failure: undefined })
        onTargets(all())
      },
      onFailure: (error) => {
        const addresses = targets.flatMap((target) => target.address ?? [])
        onAddressChange({ ...changed, addresses, failure: errorMessage(error) })
        if (isSettled) return
        isSettled = true
        onTargets(all())
      },
    })
    return { targets: () => targets, isSettled: () => isSettled, stop }
  }

  function all(): readonly Target[] {
    return groups.flatMap(({ targets }) => targets())
  }

  return {
    get targets() {
      return all()
    },
    get settled() {
      return groups.filter(({ isSettled }) => isSettled()).flatMap(({ targets }) => targets())
    },
    close: () => {
      for (const { stop } of groups) stop()
      for (const { pool } of all()) pool.close()
    },
  }
}

/** What one configured target stands for. */
interface TargetGroup {
  targets(): readonly Target[]
  isSettled(): boolean
  stop(): void
}

function staticGroup(target: Target): TargetGroup {
  return { targets: () => [target], isSettled: () => true, stop: () => {} }
}

/** A target at one of its addresses: requests and its certificate still name its host. */
function atAddress(address: TargetAddress, ip: string): TargetAddress {
  if (!('host' in address.endpoint)) return address
  return { ...address, endpoint: { ...address.endpoint, host: ip }, name: `${address.name} (${ip})` }
}

export interface TargetOpenerOptions {
  onHealthChange(change: HealthChange): void
  /** Default: performance.now(). */
  readonly monotonic?: MonotonicClock | undefined
}

/**
 * Opens targets of an upstream.
 * @param healths those of known targets, by name of target; that of a new target begins as healthy, and is added
 * @returns a function that opens one target; for `configured` see Target
 */
function createTargetOpener(
  config: UpstreamConfig,
  options: TargetOpenerOptions,
  healths: Map<string, TargetHealth | undefined>,
) {
  const { connectTimeoutMs, connectionsMax, protocol } = config
  const { verify, serverName } = config.tls
  const { monotonic } = options
  let context: SecureContext | undefined
  return function openTarget(address: TargetAddress, weight: number, configured: string): Target {
    // Created once: loading certificates for every connection would cost more than the handshake.
    if (address.isTls) context ??= createContext(config.tls)
    const tls = { verify, context, tlsSession: undefined }
    const named = serverName === undefined ? address : { ...address, serverName }
    const dialOptions = { address: named, connectTimeoutMs, tls, protocol }
    const opener =
      protocol === 'http2' ? openHttp2Connections(dialOptions) : openHttp1Connections(dialOptions)
    const { authority, origin, basePath, name } = address
    const health = healths.get(name) ?? createHealth(name, config, options)
    healths.set(name, health)
    return {
      authority,
      origin,
      basePath,
      name,
      configured,
      address: name !== configured && 'host' in address.endpoint ? address.endpoint.host : undefined,
      weight,
      pool: new Pool({ opener, connectTimeoutMs, connectionsMax, ...(monotonic && { monotonic }) }),
      health,
      inFlight: 0,
    }
  }
}

function createContext({ ca, cert, key }: UpstreamConfig['tls']): SecureContext {
  if (ca === undefined) trustSystemAuthorities()
  return createSecureContext({ ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert, key }) })
}

function createHealth(
  target: string,
  { name, health }: UpstreamConfig,
  { onHealthChange, monotonic = monotonicClock }: TargetOpenerOptions,
): TargetHealth | undefined {
  if (!health.active && !health.passive) return undefined
  return new TargetHealth({
    ...health,
    monotonic,
    onChange: (isEjected, reason) =>
      onHealthChange({ upstream: name, target, isHealthy: !isEjected, reason }),
  })
}
