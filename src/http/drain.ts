import { Server as NetServer, type Socket } from 'node:net'
import { GatehouseError } from '../errors.ts'
import { sendProblem } from './problem.ts'
import type { GatewayServer } from './server.ts'

/** Ends a server without cutting anyone short. */
export interface Drain {
  /**
   * Takes no new connections and waits until those that are open have ended by themselves.
   * @returns false where requests had to be broken off after the time
   */
  drain(timeoutMs: number): Promise<boolean>
}

/** How long the last answers may take to leave. */
const lastAnswersMs = 100

/** To be called before the server listens. */
export function createDrain({ server, active }: GatewayServer): Drain {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  async function drain(timeoutMs: number): Promise<boolean> {
    for (const response of active) {
      if (!response.headersSent) response.shouldKeepAlive = false
    }
    // http.Server.close would cut idle connections, on which a request may be on its way at this moment:
    // they get their next answer with Connection: close instead.
    NetServer.prototype.close.call(server)
    const closed = Promise.all(
      [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
    )
    await withTimeout(closed, timeoutMs)
    const brokenOff = active.size
    for (const response of active) {
      if (!response.headersSent) sendProblem(response.req, response, new GatehouseError('shutting-down'))
    }
    if (brokenOff > 0) await withTimeout(closed, lastAnswersMs)
    for (const socket of sockets) socket.destroy()
    return brokenOff === 0
  }

  return { drain }
}

async function withTimeout(promise: Promise<unknown>, timeoutMs: number): Promise<void> {
  const { promise: timeout, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, timeoutMs)
  await Promise.race([promise, timeout])
  clearTimeout(timer)
}
