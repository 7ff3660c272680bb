import type { Config } from '#config/config.ts'
import type { ArrivalServer, ServerOptions, SharedListenerOptions } from '#gateway/server/arrival-server.ts'
import { createConnectionEvents } from '#gateway/server/connection-events.ts'
import { createDecideServer } from '#gateway/server/decide-server.ts'
import { watchDescriptors } from '#gateway/server/descriptors.ts'
import { drainServer } from '#gateway/server/drain.ts'
import { listenOnAll, urlOf } from '#gateway/server/listen.ts'
import { createRedirectServer } from '#gateway/server/redirect-server.ts'
import { createGatewayServer } from '#gateway/server/server.ts'
import { acceptQueuesMax } from '#http/server/listener.ts'
import type { WorkerUrls } from '../request-server.ts'
import type { ConfigParts } from './store-parts.ts'
import type { WorkerTraffic } from './traffic.ts'

/**
 * The listeners of a worker: the main one, and those for other proxies and for redirects if they are configured.
 * @param traffic read once for each request
 */
export function createWorkerListeners(
  { config, metrics, log }: Pick<ConfigParts, 'config' | 'metrics' | 'log'>,
  ticketKeys: Buffer | undefined,
  traffic: () => WorkerTraffic,
) {
  const mayAcceptInAll = watchDescriptors()
  let isDraining = false
  const events: SharedListenerOptions = {
    // Several workers take the connections of one queue in turn.
    acceptQueues: config.listen.workers === 1 ? acceptQueuesMax : 1,
    isDraining: () => isDraining,
    ...createConnectionEvents(metrics, log),
    mayAccept: () =>
      mayAcceptInAll(
        servers.reduce((sum, { connections, handshakes }) => sum + connections.size + handshakes.size, 0),
      ),
  }
  const main = createGatewayServer({
    ...config.listen,
    ...events,
    ticketKeys,
    traffic,
    names: () => traffic().names,
  })
  const decide =
    config.decide &&
    createDecideServer({ ...decideOptions(config), ...events, traffic: () => trafficOf('decide') })
  const redirect =
    config.listen.redirect &&
    createRedirectServer({ ...plainOptions(config), ...events, traffic: () => trafficOf('redirect') })
  const servers = [main, decide, redirect].filter((server) => server !== undefined)

  function trafficOf<Name extends 'decide' | 'redirect'>(name: Name): NonNullable<WorkerTraffic[Name]> {
    const current = traffic()[name]
    // A reload can neither add nor remove one of these (`restartOnly` in gateway.ts).
    if (!current) throw new Error(`a listener that is not in the config: ${name}`)
    return current
  }

  /** The main listener last, as a client that reaches it may expect that the others answer too. */
  async function listenAll(): Promise<WorkerUrls> {
    const { listen, decide: decideAddress } = config
    const decideUrl =
      decide && decideAddress && (await listenOn(decide, decideAddress, 'decide.host and decide.port'))
    const redirectUrl =
      redirect &&
      listen.redirect &&
      (await listenOn(redirect, { ...listen, ...listen.redirect }, 'listen.host and listen.redirect.port'))
    const port = await listenOnAll(main.servers, listen, 'listen.host and listen.port')
    return { url: urlOf(listen.tls ? 'https' : 'http', listen.host, port), decideUrl, redirectUrl }
  }

  return {
    /** Requests of the main listener that have no complete response yet. */
    openArrivals: main.openArrivals,
    /** @throws OperatorError if an address is not available; nothing listens then */
    listen: async () => {
      try {
        return await listenAll()
      } catch (error) {
        for (const { servers: opened } of servers) for (const server of opened) server.close()
        throw error
      }
    },
    /** Applies the options of another config. @throws if TLS cannot use the certificate: nothing has changed then */
    reconfigure: (next: Config) => {
      main.reconfigure(next.listen)
      decide?.reconfigure(decideOptions(next))
      redirect?.reconfigure(plainOptions(next))
    },
    /** @returns false if requests were aborted at the timeout */
    drain: async (timeoutMs: number) => {
      isDraining = true
      const ends = await Promise.all(servers.map((server) => drainServer(server, timeoutMs)))
      return ends.every((isClean) => isClean)
    },
  }
}

/** A proxy that asks sends the head of its client's request, and the target a second time. */
const headFactor = 2

/** The limits of the main listener, without TLS, as proxies ask over a private network. */
function decideOptions({ listen: main }: Config): ServerOptions {
  return { ...main, headBytesMax: main.headBytesMax * headFactor, tls: undefined }
}

/** Browsers speak only HTTP/1.1 without TLS. */
function plainOptions({ listen: main }: Config): ServerOptions {
  return { ...main, http2: false, tls: undefined }
}

/** @returns its URL */
async function listenOn(
  { servers }: Pick<ArrivalServer, 'servers'>,
  address: { readonly host: string; readonly port: number },
  optionNames: string,
): Promise<string> {
  return urlOf('http', address.host, await listenOnAll(servers, address, optionNames))
}
