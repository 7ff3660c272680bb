import { Redis, ReplyError } from 'ioredis'
import { inTime, startDeadline } from '#platform/deadline.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorMessage } from '#platform/errors/operator-error.ts'
import { StoreFailure, storeUnavailable } from '../store-health.ts'
import { type NodeAddress, openClient, type RedisOptions } from './client.ts'
import { type Client, isScriptFault } from './scripts.ts'

/** A client, and the state of its connection. */
export type CommandClient = ReturnType<typeof openCommandClient>

export function openCommandClient(options: RedisOptions) {
  const { commandTimeoutMs } = options
  const { client, close } = openClient(options)
  const address = addressOf(options.topology)
  // The Cluster client has a connection to each node, and chooses among them by itself.
  const batchWrites = client instanceof Redis ? createWriteBatcher(client) : undefined
  /** Why there is no connection, as the errors of commands do not say. */
  let connectionError: Error | undefined
  /** Set if SELECT failed: the driver would continue with database 0, which may hold other data. */
  let isWrongDatabase = false
  client.on('error', (error: Error) => {
    connectionError = rootCause(error)
    if (isSelectError(connectionError)) isWrongDatabase = true
  })
  client.on('connect', () => {
    isWrongDatabase = false
  })
  client.on('ready', () => {
    if (!isWrongDatabase) connectionError = undefined
  })

  /** @throws GatehouseError as `ask` does, if there is no connection now */
  function assertConnected(): void {
    if (client.status === 'ready' && !isWrongDatabase) return
    throw storeUnavailable('unreachable', `cannot reach ${address}: ${connectionReason()}`)
  }

  function connectionReason(): string {
    if (connectionError) return describeError(connectionError)
    // Connected, but Redis has not confirmed yet that it has loaded its data.
    return client.status === 'connect' ? timeoutReason : 'not connected'
  }

  function toFailure(error: unknown): StoreFailure {
    if (error instanceof StoreFailure) return error
    if (error instanceof ReplyError) {
      return new StoreFailure('refused', `${address} refused the command: ${errorMessage(error)}`)
    }
    const kind = error instanceof Error && notSentPattern.test(error.message) ? 'unreachable' : 'unanswered'
    return new StoreFailure(kind, `cannot reach ${address}: ${describeError(connectionError ?? error)}`)
  }

  /**
   * @throws GatehouseError `store-unavailable` with a StoreFailure as its cause; a script's fault is thrown unchanged
   */
  async function ask<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    assertConnected()
    batchWrites?.()
    try {
      return await inTime(work(client), commandTimeoutMs, () => new Error(timeoutReason))
    } catch (error) {
      if (isScriptFault(error)) throw error
      throw new GatehouseError('store-unavailable', { cause: toFailure(error) })
    }
  }

  /** Waits for a connection in progress; `ask` then shows whether it succeeded. */
  function whenReady(timeoutMs: number): Promise<void> {
    if (client.status === 'ready') return Promise.resolve()
    return new Promise((resolve) => {
      const deadline = startDeadline(timeoutMs, end)
      client.once('ready', end)
      function end(): void {
        deadline.clear()
        client.off('ready', end)
        resolve()
      }
    })
  }

  return { ask, assertConnected, whenReady, toFailure, close }
}

/**
 * Corks the socket to Redis until the end of the current turn of the event loop, so that all commands are sent in one
 * write: each write costs about as much as a command, and wakes Redis. To be called before each command.
 */
export function createWriteBatcher(client: Redis): () => void {
  let corked: Redis['stream'] | undefined

  function batchWrites(): void {
    if (corked) return
    corked = client.stream
    corked.cork()
    setImmediate(release)
  }

  function release(): void {
    corked?.uncork()
    corked = undefined
  }

  return batchWrites
}

const timeoutReason = 'no answer within the timeout'
const notSentPattern = /isn't writeable|isn't ready/

/** Answers of Redis, or of another server in its place, and what they mean. */
const answers: readonly (readonly [RegExp, string])[] = [
  [/^NOAUTH/, 'NOAUTH: it requires a password, so set store.redis.password'],
  [/^WRONGPASS/, 'WRONGPASS: the user or password in store.redis is wrong'],
  [/^Unknown RESP type/, 'what answers there is not Redis: see store.redis in the config'],
]

/** Whether a server was reached, so that the failure says by itself what is wrong. */
export function wasAnswered({ message }: StoreFailure): boolean {
  return answers.some(([, meaning]) => message.endsWith(meaning))
}

/** Messages of the driver and of Redis, and what they mean. */
const driverMessages: readonly (readonly [RegExp, string])[] = [
  [/isn't writeable|isn't ready|^Connection is closed/, 'not connected'],
  [/max retries per request/, 'the connection was lost'],
  [/^Socket timeout/, 'socket timeout'],
  [/ETIMEDOUT$/, 'connect timeout'],
  [/^Failed to refresh slots cache/, 'no cluster node answers'],
  [/^All sentinels are unreachable/, 'no Sentinel named a reachable master'],
  ...answers,
]

function describeError(error: unknown): string {
  const reason = errorMessage(error)
  const [, meaning] = driverMessages.find(([pattern]) => pattern.test(reason)) ?? []
  return meaning ?? reason
}

/** The error behind a failure of all nodes of a Cluster, or of all addresses of a host. */
function rootCause(error: Error): Error {
  if ('lastNodeError' in error && error.lastNodeError instanceof Error) {
    const hasDetail = error.lastNodeError.message !== 'Connection is closed.'
    return hasDetail ? rootCause(error.lastNodeError) : new Error('no cluster node answers')
  }
  const [first] = error instanceof AggregateError ? error.errors : []
  return first instanceof Error ? first : error
}

/** Whether Redis has refused to select the database of the URL. */
function isSelectError(error: Error): boolean {
  if (!('command' in error)) return false
  const { command } = error
  return typeof command === 'object' && command !== null && 'name' in command && command.name === 'select'
}

/** The address of Redis for an operator, without user and password. */
function addressOf(topology: RedisOptions['topology']): string {
  switch (topology.kind) {
    case 'single':
      return `Redis at ${hostOf(topology.url)}`
    case 'sentinel':
      return `Redis "${topology.name}" (Sentinels ${nodesOf(topology)})`
    case 'cluster':
      return `Redis Cluster at ${nodesOf(topology)}`
    default:
      return topology satisfies never
  }
}

function hostOf(url: string): string {
  if (!URL.canParse(url)) return 'the configured URL'
  const { hostname, port } = new URL(url)
  return `${hostname}:${port === '' ? 6379 : port}`
}

function nodesOf({ nodes }: { readonly nodes: readonly NodeAddress[] }): string {
  return nodes
    .map(({ host, port }) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`))
    .join(', ')
}
