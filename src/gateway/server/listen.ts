import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { Metrics } from '#ops/metrics/metrics.ts'
import { inTime } from '#platform/deadline.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorMessage, hasErrorCode, OperatorError } from '#platform/errors/operator-error.ts'
import type { Log } from '#platform/log/log.ts'
import type { ArrivalServer, SharedListenerOptions } from './arrival-server.ts'

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

interface Address {
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

/** How long the last responses may take to be flushed. */
const flushTimeoutMs = 100

/** How long connections are taken from the accept backlog, at most. */
const backlogTimeoutMs = 5_000

// After one turn of the event loop without a connection the backlog was empty; with several workers, another may have
// taken one.
const idleTurnsMax = 2

/**
 * Closes a server gracefully: accepts no new connections, lets requests in flight complete, and waits until the open
 * connections have ended by themselves.
 * @returns false if requests were aborted at the deadline
 */
export async function drainServer(
  { servers, connections, startDrain, abortOpen }: ArrivalServer,
  timeoutMs: number,
): Promise<boolean> {
  startDrain(timeoutMs)
  // A request may be in transit on an idle connection right now: its response gets Connection: close.
  const endsAt = performance.now() + timeoutMs
  await acceptBacklog(servers[0], Math.min(timeoutMs / 2, backlogTimeoutMs))
  for (const server of servers) server.close()
  const closed = Promise.all(
    [...connections].map(({ socket }) => new Promise((resolve) => socket.once('close', resolve))),
  )
  await waitFor(closed, Math.max(0, endsAt - performance.now()))
  const aborted = abortOpen(new GatehouseError('shutting-down'))
  if (aborted > 0) await waitFor(closed, flushTimeoutMs)
  for (const { socket } of connections) socket.destroy()
  return aborted === 0
}

/**
 * Takes the connections that wait in the accept backlog: closing the server would reset them, although their clients
 * consider them established. Call `close()` in the same turn after it.
 * @param withinMs the limit, as under a flood the backlog is never empty
 */
async function acceptBacklog(server: Server, withinMs: number): Promise<void> {
  const endsAt = performance.now() + withinMs
  let idleTurns = 0
  const onConnection = () => {
    idleTurns = -1
  }
  server.on('connection', onConnection)
  while (idleTurns < idleTurnsMax && performance.now() < endsAt) {
    await setImmediate()
    idleTurns++
  }
  server.off('connection', onConnection)
}

/** Waits for something that may also be late. */
async function waitFor(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  await inTime(work, timeoutMs, () => new Error('late')).catch(() => {})
}

/** Descriptors kept free for files, the store and upstreams. */
const reservedDescriptors = 16
/** For how many connections one count is valid, and for how long. */
const connectionsPerCount = 8
const countMaxAgeMs = 100

/**
 * Whether another connection may be accepted. Without a free descriptor libuv accepts and closes connections silently,
 * so the last ones are kept free, and further connections are dropped where that can be counted.
 * @returns a function of the number of open connections; if the limit is unknown (on systems other than Linux), it
 *   accepts every one
 */
export function watchDescriptors(limit = descriptorsMax(), count = countDescriptors) {
  if (limit === undefined) return () => true
  let used = count()
  let countedAt = performance.now()
  let connectionsAtCount = 0

  return function mayAccept(openConnections: number): boolean {
    // Each connection may need another one to its upstream: counting is only worthwhile if that could be too many.
    // Other descriptors, such as files that are opened later, may have doubled since the last count.
    const others = used - connectionsAtCount
    if (others * 2 + openConnections * 2 + reservedDescriptors < limit) return true
    const now = performance.now()
    if (
      now - countedAt > countMaxAgeMs ||
      Math.abs(openConnections - connectionsAtCount) >= connectionsPerCount
    ) {
      used = count()
      countedAt = now
      connectionsAtCount = openConnections
    }
    return used + openConnections - connectionsAtCount + reservedDescriptors < limit
  }
}

function descriptorsMax(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}

/** Without a free descriptor they cannot be counted. */
function countDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Counts and logs what befalls connections: a flood causes thousands, so totals are logged at intervals. */
export function createConnectionEvents(
  { connectionsDropped, http2ConnectionsCut }: Metrics,
  log: Log,
): Pick<SharedListenerOptions, 'onDropped' | 'onAcceptError' | 'onSessionError'> {
  const reportDropped = createTotalsReporter()
  const reportCut = createTotalsReporter()
  return {
    onAcceptError: (err) => log.warn({ err }, 'cannot accept a connection'),
    onDropped: () => {
      connectionsDropped.inc()
      reportDropped((connections) =>
        log.warn({ connections }, 'connections dropped: almost out of file descriptors'),
      )
    },
    onSessionError: (client, err) => {
      http2ConnectionsCut.inc()
      reportCut((connections) =>
        log.warn({ client, connections, err }, 'HTTP/2 connections cut off: the client broke the protocol'),
      )
    },
  }
}

/** How often dropped connections, or HTTP/2 connections that were cut off, are logged at most. */
const logIntervalMs = 10_000

/** Writes the first report, and then totals at intervals. */
function createTotalsReporter(): (write: (total: number) => void) => void {
  let total = 0
  let reportedAt = Number.NEGATIVE_INFINITY
  return function report(write) {
    total++
    const now = performance.now()
    if (now - reportedAt < logIntervalMs) return
    write(total)
    reportedAt = now
    total = 0
  }
}
