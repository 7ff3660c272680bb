import { once } from 'node:events'
import type { Test } from 'tap'
import type { OpenConnection } from '#http/client-exchange.ts'
import { framingTable } from '#http/message/name-table.ts'
import type { RequestHead } from '#http/request-head.ts'
import type { ClientConnection } from '#http/server/client-connection.ts'
import { createListener, type ReloadableListenerOptions } from '#http/server/listener.ts'
import { DeadlineSweep } from '#platform/deadline-sweep.ts'
import { portOf } from '../../setup/net.ts'

/** Listens until the test ends; what cannot be read breaks the connection off. */
export async function listen(
  t: Test,
  onRequest: (connection: ClientConnection, head: RequestHead) => void,
  terms: Pick<ReloadableListenerOptions, 'requestTimeoutMs' | 'tls'> &
    Partial<
      ReloadableListenerOptions & Pick<Parameters<typeof createListener>[0], 'openSession' | 'isDraining'>
    >,
) {
  const limits = { keepAliveTimeoutMs: 5_000, headBytesMax: 16_384, bodyRateMin: 1, ...terms }
  const connections = new DeadlineSweep<OpenConnection>(500)
  const { servers, reconfigure } = createListener({
    connections,
    bodies: new DeadlineSweep(500),
    names: () => framingTable,
    isDraining: () => false,
    onRequest,
    onUnreadable: (connection) => connection.abort(),
    onEnd: () => {},
    onAcceptError: () => {},
    acceptQueues: 1,
    mayAccept: () => true,
    openSession: undefined,
    ...limits,
    onDropped: () => {},
    answerPlainHttp: () => 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n',
  })
  const [server] = servers
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const { socket } of connections) socket.destroy()
  })
  return {
    port: portOf(server),
    connections,
    server,
    /** Takes other limits. */
    reconfigure: (changes: Partial<ReloadableListenerOptions>) => reconfigure({ ...limits, ...changes }),
  }
}

/** Answers with a text. */
export function answerWith(connection: ClientConnection, body: string): void {
  connection.respond(200, 'OK', `Content-Length: ${body.length}\r\n`, 'counted')
  connection.end(body)
}
