import { type AddressInfo, createServer, type Server } from 'node:net'
import { errorMessage, hasErrorCode, OperatorError } from '#platform/errors/operator-error.ts'

/** The URL at which a client on this machine reaches a listener. */
export function urlOf(scheme: 'http' | 'https', listenHost: string, port: number): string {
  const host = listenHost === '0.0.0.0' ? '127.0.0.1' : listenHost === '::' ? '::1' : listenHost
  return `${scheme}://${addressOf(host, port)}`
}

/** An address to listen on, as configured: `0.0.0.0:8080`, `[::]:8080`. */
export function addressOf(host: string, port: number | string): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * The number of connections that wait to be accepted; the system has a limit of its own (on Linux net.core.somaxconn,
 * usually 4,096). With Node's default of 511, some of a thousand clients that connect at once would wait a second to
 * retry their SYN.
 */
const backlog = 4_096

export interface Address {
  readonly host: string
  readonly port: number
}

/** Starts several servers on one port. If a port cannot be shared, only the first listens. */
export async function listenOnAll(
  servers: readonly [Server, ...Server[]],
  { host, port }: Address,
  optionNames: string,
): Promise<number> {
  const [first, ...others] = servers
  if (others.length === 0 || !canShare) return listen(first, { host, port }, optionNames)
  // A shared port never counts as in use to those who share it, so another gateway on it has to be detected first.
  if (port !== 0) await assertFree({ host, port }, optionNames)
  try {
    const shared = await listen(first, { host, port }, optionNames, true)
    for (const other of others) await listen(other, { host, port: shared }, optionNames, true)
    return shared
  } catch (error) {
    for (const server of servers) server.close()
    throw error
  }
}

/** Other systems lack the option, or do not spread connections over the listeners. */
const canShare = process.platform === 'linux'

async function assertFree(address: Address, optionNames: string): Promise<void> {
  const probe = createServer((socket) => socket.destroy())
  await listen(probe, address, optionNames)
  await new Promise((resolve) => probe.close(resolve))
}

/**
 * Starts listening.
 * @param optionNames of the address, in the config
 * @param reusePort whether other servers share the port
 * @returns the port, chosen by the system if it was 0
 * @throws OperatorError where the address is in use or not available
 */
export function listen(
  server: Server,
  { host, port }: Address,
  optionNames: string,
  reusePort = false,
): Promise<number> {
  return new Promise<number>((resolve, reject) => {
    function onError(cause: Error): void {
      // A port below 1024, as another user than root.
      const grant = hasErrorCode(cause, 'EACCES') ? ', or grant CAP_NET_BIND_SERVICE' : ''
      reject(
        new OperatorError(`cannot listen on ${host}:${port}: ${errorMessage(cause)}`, {
          hint: `Choose another address with ${optionNames} in the config${grant}; port 0 picks a free port.`,
          cause,
        }),
      )
    }
    server.once('error', onError)
    server.listen({ host, port, backlog, reusePort }, () => {
      server.off('error', onError)
      // The cast is sound: a server that listens on a host and port has such an address.
      resolve((server.address() as AddressInfo).port)
    })
  })
}
