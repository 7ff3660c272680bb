import { isDeepStrictEqual } from 'node:util'
import type { SharedMemory } from '../cache/instance-memory.ts'
import type { Config } from '../config/config.ts'
import { OperatorError } from '../errors.ts'
import { type Identity, openIdentity } from '../identity.ts'
import type { Change } from '../store/store.ts'
import type { Acknowledgements } from '../tokens/acknowledgements.ts'
import { type Exporter, openExporter } from '../tracing/exporter.ts'
import { readVersion } from '../version.ts'
import type { SharedStore } from './shared-store.ts'
import { buildTraffic, type Traffic, type TrafficOptions } from './traffic.ts'
import { closeUpstreams, noUpstreams, type OpenUpstreams, openUpstreams } from './upstreams.ts'

/** All that one config has made. */
export interface Built {
  readonly config: Config
  readonly identity: Identity
  readonly upstreams: OpenUpstreams
  readonly traffic: Traffic
  readonly exporter: Exporter | undefined
  /** Closes what `other` does not use; undefined = everything. */
  closeAllBut(other: Built | undefined): void
}

export interface BuilderOptions
  extends Omit<TrafficOptions, 'config' | 'identity' | 'upstreams' | 'store' | 'exporter'> {
  readonly store: SharedStore
  /** See IdentityOptions. */
  readonly memory: SharedMemory | undefined
  readonly acknowledgements: Acknowledgements
  /** Told of changes in this identity, once it is open. */
  onChange(change: Change | undefined, identity: Identity): void
}

/**
 * Builds what a config says; what has not changed is taken over from `before`, with its caches and connections.
 * @throws OperatorError, with nothing left open
 */
export type Build = (config: Config, before?: Built) => Promise<Built>

export function createBuilder({
  store,
  memory,
  acknowledgements,
  onChange,
  ...shared
}: BuilderOptions): Build {
  async function openOwnIdentity(config: Config): Promise<Identity> {
    const { sealingKey, keyUses, limiter, log, metrics, clock } = shared
    const joined = store.join()
    let opened: Identity | undefined
    try {
      const identity = await openIdentity({
        config,
        store: joined.store,
        sealingKey,
        keyUses,
        limiter,
        acknowledgements,
        log,
        metrics,
        clock,
        memory,
        onChange: (change) => opened && onChange(change, opened),
      })
      opened = {
        ...identity,
        close: () => {
          identity.close()
          joined.leave()
        },
      }
      return opened
    } catch (error) {
      joined.leave()
      throw error
    }
  }

  return async function build(config, before) {
    const isKept = before && isDeepStrictEqual(identityTerms(config), identityTerms(before.config))
    const identity = isKept ? before.identity : await openOwnIdentity(config)
    const upstreams = openUpstreams(config.upstreams, before?.upstreams ?? noUpstreams, shared.log)

    const isTracedAsBefore = before && isDeepStrictEqual(config.tracing, before.config.tracing)
    const exporter = isTracedAsBefore ? before.exporter : openOwnExporter(config, shared)

    function closeAllBut(other: Built | undefined): void {
      if (other?.identity !== identity) identity.close()
      closeUpstreams(upstreams, other?.upstreams ?? noUpstreams)
      if (other?.exporter !== exporter) void exporter?.close()
    }

    try {
      if (before) assertContact(identity, !isKept)
      const traffic = await buildTraffic({
        config,
        identity,
        upstreams,
        store: store.whole,
        exporter,
        ...shared,
      })
      return { config, identity, upstreams, traffic, exporter, closeAllBut }
    } catch (error) {
      closeAllBut(before)
      throw error
    }
  }
}

function openOwnExporter(
  { tracing }: Config,
  { metrics, log }: Pick<TrafficOptions, 'metrics' | 'log'>,
): Exporter | undefined {
  if (!tracing) return undefined
  const { spans } = metrics
  return openExporter({
    url: tracing.url,
    resource: { 'service.name': 'gatehouse', 'service.version': readVersion() },
    counts: { sent: spans.of('sent'), dropped: spans.of('dropped'), failed: spans.of('failed') },
    log,
  })
}

/** The parts of a config that the caches, the keys and the sessions depend on. */
function identityTerms({ tokens, cache, sessionsMax }: Config): unknown {
  return { tokens, cache, sessionsMax }
}

/** New caches know no accounts, and no keys: with the store out of reach everybody would be refused. */
function assertContact({ contact, keyring }: Identity, isNew: boolean): void {
  if (!isNew || (contact.isUp && keyring.isLoaded())) return
  throw new OperatorError('the store does not answer, and changed tokens or cache settings need it', {
    hint: 'Reload again once /readyz says ok.',
  })
}
