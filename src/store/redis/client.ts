import type { ConnectionOptions } from 'node:tls'
import { type RedisOptions as ClientOptions, Cluster, Redis } from 'ioredis'
import { type TlsVerification, trustSystemAuthorities } from '#platform/certificate-authorities.ts'
import { startDeadline } from '#platform/deadline.ts'
import type { Client } from './scripts.ts'

export interface RedisOptions {
  readonly topology: RedisTopology
  readonly username: string | undefined
  readonly password: string | undefined
  /** undefined = no TLS, unless the URL says rediss. */
  readonly tls: TlsVerification | undefined
  readonly keyPrefix: string
  /** How many replicas must have a change before it counts as done. */
  readonly replicas: number
  /** A command without a response by then has failed. */
  readonly commandTimeoutMs: number
}

export type RedisTopology =
  | { readonly kind: 'single'; readonly url: string }
  | {
      readonly kind: 'sentinel'
      readonly name: string
      readonly nodes: readonly NodeAddress[]
      /** Password of the sentinels themselves. */
      readonly password: string | undefined
    }
  | { readonly kind: 'cluster'; readonly nodes: readonly NodeAddress[] }

export interface NodeAddress {
  readonly host: string
  readonly port: number
}

const connectTimeoutMs = 1_000
/** A connection on which a response is overdue for this long is dead, not just slow. */
const socketTimeoutMs = 1_000
/** How much longer it is kept, in case a standstill of this process has delayed the response. */
const socketGraceMs = 100
/** How long the other side may take to close a connection; a dead one never does. */
const disconnectTimeoutMs = 200
/** Retries of a command after a redirection (MOVED, ASK, TRYAGAIN, CLUSTERDOWN): within a request's store timeout. */
export const redirections = { max: 4, delayMs: 50 }
const reconnectDelayMs = { first: 50, max: 1_000 }
/** How long a replica refuses writes before it is left, and after which time again. */
const replicaLeftMs = { first: 1_000, next: 10_000 }

/**
 * Opens a client that fails at once rather than queueing, as the caller decides what an outage means. It reconnects by
 * itself; `error` events need no handling, as every command rejects.
 */
export function openClient(options: RedisOptions) {
  const client = connect(options)
  let isClosed = false
  let attempts = 0
  if (client instanceof Cluster) client.on('+node', prepareNode)
  else prepareNode(client)
  client.on('error', () => {})
  client.on('ready', () => {
    attempts = 0
  })
  // ioredis stops reconnecting if a Sentinel reports a failover while the driver asks it for the master.
  client.on('end', () => {
    if (isClosed) return
    attempts++
    setTimeout(() => {
      if (!isClosed) client.connect().catch(() => {})
    }, reconnectDelay(attempts)).unref()
  })

  /** At once; otherwise the client would reconnect. */
  function close(): void {
    isClosed = true
    client.disconnect()
  }

  return { client, close }
}

function prepareNode(node: Redis): void {
  ignoreLateErrors(node)
  readBeforeTimeout(node)
}

/** A TLS socket closed while it connects can fail twice: the driver handles one error, the next would be fatal. */
function ignoreLateErrors(node: Redis): void {
  node.on('error', () => {
    if (node.stream?.listenerCount('error') === 0) node.stream.on('error', () => {})
  })
}

/**
 * The driver destroys a silent connection by a timer, which fires too early after a standstill of this process: the
 * answers may already be in the socket, or the commands only just sent.
 */
function readBeforeTimeout(node: Redis): void {
  node.on('connect', () => {
    const { stream } = node
    const destroy = stream.destroy.bind(stream)
    stream.destroy = (error) => {
      if (!error?.message.startsWith('Socket timeout')) return destroy(error)
      const { bytesRead } = stream
      startDeadline(socketGraceMs, () => {
        if (stream.bytesRead === bytesRead) destroy(error)
      })
      return stream
    }
  })
}

function connect({ topology, ...options }: RedisOptions): Client {
  const common = commonOptions(options)
  switch (topology.kind) {
    case 'single': {
      const isTls = topology.url.startsWith('rediss:')
      return new Redis(topology.url, {
        ...common,
        reconnectOnError: createReplicaCheck(),
        ...(isTls && { tls: tlsOptions(options.tls) }),
      })
    }
    case 'sentinel':
      return new Redis({
        ...common,
        name: topology.name,
        sentinels: [...topology.nodes],
        sentinelCommandTimeout: connectTimeoutMs,
        sentinelRetryStrategy: reconnectDelay,
        failoverDetector: true,
        reconnectOnError: createReplicaCheck(),
        ...(topology.password !== undefined && { sentinelPassword: topology.password }),
        ...(options.tls && {
          tls: tlsOptions(options.tls),
          enableTLSForSentinelMode: true,
          sentinelTLS: tlsOptions(options.tls),
        }),
      })
    case 'cluster':
      return new Cluster([...topology.nodes], {
        redisOptions: { ...common, ...(options.tls && { tls: tlsOptions(options.tls) }) },
        enableOfflineQueue: false,
        clusterRetryStrategy: reconnectDelay,
        slotsRefreshTimeout: connectTimeoutMs,
        maxRedirections: redirections.max,
        retryDelayOnFailover: redirections.delayMs,
        retryDelayOnClusterDown: redirections.delayMs,
        retryDelayOnTryAgain: redirections.delayMs,
      })
    default:
      return topology satisfies never
  }
}

function commonOptions({ username, password, commandTimeoutMs }: Omit<RedisOptions, 'topology'>) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    connectTimeout: connectTimeoutMs,
    socketTimeout: Math.max(socketTimeoutMs, commandTimeoutMs),
    disconnectTimeout: disconnectTimeoutMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    autoResendUnfulfilledCommands: false,
    keepAlive: 30_000,
    retryStrategy: reconnectDelay,
    // ioredis would resubscribe with an unhandled promise, whose rejection ends the process.
    autoResubscribe: false,
  } satisfies ClientOptions
}

/**
 * A master that has become a replica keeps its connections, while its address (a load balancer, a name in DNS,
 * Sentinel) leads to the new master. Each attempt interrupts reads, which a replica answers, so there are few.
 * @returns whether the connection is to be made anew after this error
 */
function createReplicaCheck(): (error: Error) => boolean {
  let dueAt: number | undefined
  return ({ message }) => {
    if (!message.startsWith('READONLY ')) return false
    const now = performance.now()
    dueAt ??= now + replicaLeftMs.first
    if (now < dueAt) return false
    dueAt = now + replicaLeftMs.next
    return true
  }
}

/** Doubled at each attempt, with jitter, so that many instances do not reconnect at the same time. */
function reconnectDelay(attempt: number): number {
  const delayMs = Math.min(reconnectDelayMs.first * 2 ** (attempt - 1), reconnectDelayMs.max)
  return Math.round(delayMs * (0.5 + Math.random() / 2))
}

function tlsOptions(tls: RedisOptions['tls']): ConnectionOptions {
  if (tls?.ca === undefined) trustSystemAuthorities()
  return { rejectUnauthorized: tls?.verify ?? true, ...(tls?.ca !== undefined && { ca: tls.ca }) }
}
