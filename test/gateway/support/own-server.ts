import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Test } from 'tap'
import type { Arrival } from '#gateway/arrival/arrival.ts'
import type { ArrivalServer } from '#gateway/server/arrival-server.ts'
import { createGatewayServer, type Traffic } from '#gateway/server/server.ts'
import { framingTable } from '#http/message/name-table.ts'
import { usualFieldReader } from '../../setup/carriers.ts'
import { portOf } from '../../setup/net.ts'

export const ownPath = '/own'

export interface OwnServer extends ArrivalServer {
  readonly url: string
  /** Requests that are over, with whether their whole answer has left. */
  readonly ended: readonly (readonly [arrival: Arrival, isComplete: boolean])[]
}

/** The server of a gateway whose own endpoint answers like this; all other requests wait for ever. */
export async function startOwnServer(
  t: Test,
  routing: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<OwnServer> {
  const ended: (readonly [Arrival, boolean])[] = []
  const traffic: Traffic = {
    trusted: { has: () => false },
    fieldReader: usualFieldReader,
    observer: {
      begin: () => {},
      end: (...end: readonly [Arrival, boolean]) => void ended.push(end),
      recordUnreadable: () => {},
    },
    ownPaths: {
      portalScopes: undefined,
      isOwnHost: () => false,
      has: (path: string) => path === ownPath,
      methodsOf: () => undefined,
    },
    api: { routing },
    proxy: { handle: () => {}, handleOrdinary: () => {} },
    names: framingTable,
    fastLane: undefined,
    cors: undefined,
  }
  return { ...(await startServerOf(t, () => traffic)), ended }
}

/** The server of a gateway that handles requests like this. */
export async function startServerOf(t: Test, traffic: () => Traffic): Promise<Omit<OwnServer, 'ended'>> {
  const gatewayServer = createGatewayServer({
    requestTimeoutMs: 30_000,
    keepAliveTimeoutMs: 5_000,
    headBytesMax: 16_384,
    bodyRateMin: 1,
    http2: true,
    streamsMax: 128,
    onSessionError: () => {},
    tls: undefined,
    traffic,
    names: () => framingTable,
    isDraining: () => false,
    acceptQueues: 1,
    mayAccept: () => true,
    onDropped: () => {},
    onAcceptError: () => {},
  })
  const { servers, connections } = gatewayServer
  const [server] = servers
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const { socket } of connections) socket.destroy()
  })
  return { ...gatewayServer, url: `http://127.0.0.1:${portOf(server)}` }
}
