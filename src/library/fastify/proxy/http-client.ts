import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import { principalOf } from '#gateway/arrival/outcome.ts'
import { responseHeaderLines } from '#gateway/forward/rewritten-response.ts'
import { withoutReplaced } from '#gateway/routes/response-fields.ts'
import { fieldsOf } from '#http/message/field-lines.ts'
import { fieldsIn } from '#http/request-head.ts'
import { withoutBrackets } from '#platform/addresses.ts'
import { type Deadline, startDeadline } from '#platform/deadline.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { type Exchange, exchangeIn } from './exchange.ts'
import { type ProxyUpstream, tlsOptionsOf } from './proxy-options.ts'

/** The parts of undici that are used; its types would have to be installed by every app. */
interface Undici {
  readonly Agent: new (
    options: object,
  ) => {
    request(options: object, callback: RequestCallback): void
    destroy(): Promise<void>
  }
  buildConnector(options: object): (options: object, callback: unknown) => unknown
}

type RequestCallback = (error: Error | null, response?: ClientResponse) => void

interface ClientResponse {
  readonly statusCode: number
  readonly headers: readonly string[]
  readonly body: Readable
}

/** What reply-from expects of its client. */
interface HttpClient {
  request(
    options: { readonly headers: object; readonly method: string },
    callback: (error: Error | null, response?: object) => void,
  ): void
  destroy(): void
}

/**
 * The HTTP client of one backend, in place of http-proxy's own: it sends exactly what was prepared for an admitted
 * request, verifies the backend's certificate by its own name rather than one that the client sends, and stops when the
 * client has gone.
 */
export function createHttpClient(upstream: ProxyUpstream): HttpClient {
  const { url, tls, connectTimeoutMs, responseTimeoutMs, idleTimeoutMs, connectionsMax } = upstream
  const { Agent, buildConnector } = requireUndici()
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    ...tlsOptionsOf(upstream),
  })
  const name = withoutBrackets(url.hostname)
  const servername = tls.serverName ?? (isIP(name) === 0 ? name : undefined)
  const agent = new Agent({
    connections: connectionsMax,
    pipelining: 1,
    // Otherwise undici would take it from the Host header, which is the client's.
    connect: (options: object, callback: unknown) => connect({ ...options, servername }, callback),
  })
  return {
    request: ({ headers, method }, callback) => {
      const exchange = exchangeIn(headers)
      const { arrival, route, target, strippedPrefix, fields, body, signal } = exchange
      const deadline = limitHead(exchange, responseTimeoutMs)
      agent.request(
        {
          origin: url.origin,
          path: target,
          method,
          headers: fields,
          body,
          signal,
          reset: isLastOnConnection(exchange, method),
          servername: tls.serverName ?? name,
          headersTimeout: responseTimeoutMs,
          bodyTimeout: idleTimeoutMs,
          responseHeaders: 'raw',
        },
        (error, response) => {
          const isLate = deadline.stop()
          if (error || !response) {
            callback(isLate ? new GatehouseError('upstream-timeout') : (error ?? new Error('no response')))
            return
          }
          const lines = responseHeaderLines({
            status: response.statusCode,
            headers: withoutReplaced(response.headers, route.responseHeaders),
            set: route.responseHeaders?.set,
            mayHaveTrailers: false,
            targetOrigin: url.origin,
            client: arrival.client,
            strippedPrefix,
            requestId: arrival.requestId,
            caching: route.caching,
            ownCookies: undefined,
            isAuthenticated: principalOf(arrival.outcome) !== undefined,
            // An app has no portal.
            clientPath: '',
            portalScopes: undefined,
          })
          callback(null, {
            statusCode: response.statusCode,
            headers: parseFields(lines),
            body: response.statusCode === notModified ? emptied(response.body) : response.body,
          })
        },
      )
    },
    destroy: () => void agent.destroy(),
  }
}

const notModified = 304

/** undici treats the length in a 304, which is that of the response to a GET, as a body that did not arrive. */
function emptied(body: Readable): Readable {
  body.on('error', () => {}).resume()
  return Readable.from([])
}

/**
 * Whether the connection is closed after the request, because the next one may be another client's: a lenient backend
 * may leave bytes on the connection (an unread body, or the body of a response to HEAD), or the request may have
 * authenticated it.
 */
function isLastOnConnection({ arrival, isLast }: Exchange, method: string): boolean {
  const { head, fields } = arrival
  return isLast || method === 'HEAD' || head.body.kind === 'chunked' || fields.uncommon.bindsConnection
}

/**
 * Ends an exchange whose response has no head in time, counted from when the request was sent: undici's timeout starts
 * again with every 1xx.
 */
function limitHead({ body, signal }: Exchange, timeoutMs: number): { stop(): boolean } {
  let deadline: Deadline | undefined
  let isLate = false
  function start(): void {
    deadline ??= startDeadline(timeoutMs, () => {
      isLate = true
      signal.emit('abort')
    })
  }
  function stop(): boolean {
    body?.off('close', start)
    deadline?.clear()
    return isLate
  }
  if (body) body.once('close', start)
  else start()
  return { stop }
}

/** The undici of http-proxy itself, wherever it is installed. @throws Error where there is no http-proxy */
function requireUndici(): Undici {
  return requireOfHttpProxy('@fastify/reply-from', 'undici') as Undici
}

/** Loads a dependency of http-proxy, by the packages that lead to it. */
export function requireOfHttpProxy(...names: readonly string[]): unknown {
  let require = createRequire(import.meta.url)
  try {
    let path = require.resolve('@fastify/http-proxy')
    for (const name of names) {
      require = createRequire(path)
      path = require.resolve(name)
    }
    return require(path)
  } catch (cause) {
    throw new Error('gatehouse.proxy() needs @fastify/http-proxy 11: npm install @fastify/http-proxy', {
      cause,
    })
  }
}

/** The fields of lines that each end with CR LF, by name in lower case; a name that occurs again has a list. */
function parseFields(lines: string): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null)
  for (const [name, value] of fieldsIn(fieldsOf(lines, 0, lines.length))) {
    const lower = name.toLowerCase()
    const before = fields[lower]
    fields[lower] = before === undefined ? value : [before, value].flat()
  }
  return fields
}
