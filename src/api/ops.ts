import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { parseHost } from '#gateway/routes/hosts.ts'
import { openMetricsType, prefersOpenMetrics } from '#ops/metrics/open-metrics-format.ts'
import type { Status } from '#ops/status/status.ts'
import { isLoopback, withoutBrackets } from '#platform/addresses.ts'
import type { StoreHealth, StoreState } from '#store/store-health.ts'
import { jsonLine } from './replies.ts'
import { registerStatus } from './status-page.ts'
import { schemaController } from './validate-with-schemas.ts'

/** The state that operators can query, and the actions they can trigger. */
interface OpsOptions {
  readonly contentType: string
  /** Where the current config says that it listens. */
  address(): OpsAddress
  metricsText(isOpenMetrics: boolean): Promise<string>
  health(): StoreHealth | Promise<StoreHealth>
  storeState(): StoreState | Promise<StoreState>
  /** True from the start of a shutdown. */
  isShuttingDown(): boolean
  reload(): Promise<ReloadOutcome>
  /** The current state, for /status. */
  readStatus(): Promise<Status>
}

/** The outcome of a reload. Unless the new config was taken, the old one stays current. */
export type ReloadOutcome =
  | { readonly kind: 'taken' }
  /** The config is invalid. */
  | { readonly kind: 'refused'; readonly problems: readonly string[] }
  /** The config may be valid, but could not be built now. */
  | { readonly kind: 'failed'; readonly problems: readonly string[] }

const reloadStatus = { taken: 200, refused: 422, failed: 503 } as const satisfies Record<
  ReloadOutcome['kind'],
  number
>

/** What `Allow` says of each path. */
const methodsOf: ReadonlyMap<string, string> = new Map([
  ...['/livez', '/readyz', '/status', '/metrics'].map((path) => [path, 'GET, HEAD'] as const),
  ['/reload', 'POST'],
])

/** The ops endpoints, on their own listener: not for clients. */
export async function buildOps(options: OpsOptions): Promise<FastifyInstance> {
  const { contentType, address, metricsText, health, storeState, isShuttingDown, reload, readStatus } =
    options
  const app = Fastify({ schemaController, return503OnClosing: false, forceCloseConnections: true })
  app.setReplySerializer(jsonLine)

  app.addHook('onRequest', async (request, reply) => {
    const reason = refuseCrossOrigin(request.headers, address())
    if (reason !== undefined) return reply.code(403).send({ status: 'forbidden', reason })
  })

  app.get('/livez', async () => ({ status: 'ok' }))

  app.get('/readyz', async (_request, reply) => {
    if (isShuttingDown()) return refuseShuttingDown(reply)
    const status = await health()
    const body = status === 'degraded' ? degradedBody(await storeState()) : { status }
    return reply.code(status === 'store-unavailable' ? 503 : 200).send(body)
  })

  app.get('/metrics', async ({ headers: { accept = '' } }, reply) => {
    const isOpenMetrics = prefersOpenMetrics(accept)
    reply.type(isOpenMetrics ? openMetricsType : contentType)
    return metricsText(isOpenMetrics)
  })

  registerStatus(app, readStatus)

  app.post('/reload', async (_request, reply) => {
    if (isShuttingDown()) return refuseShuttingDown(reply)
    const outcome = await reload()
    const problems = outcome.kind === 'taken' ? undefined : outcome.problems
    return reply.code(reloadStatus[outcome.kind]).send({ status: outcome.kind, problems })
  })
  // The body of a reload request is ignored.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume()
    payload.on('end', () => done(null))
  })

  app.setNotFoundHandler(({ url }, reply) => {
    const allow = methodsOf.get(url.replace(/\?.*/s, ''))
    if (allow === undefined)
      return reply.code(404).send({ status: 'not-found', paths: [...methodsOf.keys()] })
    return reply.code(405).header('Allow', allow).send({ status: 'method-not-allowed' })
  })
  await app.ready()
  return app
}

/** The operations that need writes. */
const writeOperations = [
  'issuing and refreshing tokens',
  'sign-in to the portal',
  'changes of accounts, keys and sessions',
]

/** What is refused in this state, and why. */
function degradedBody({ writesRefused }: StoreState) {
  const status = 'degraded'
  return writesRefused === null
    ? {
        status,
        reason: 'the store is unavailable',
        refused: ['callers that are not cached', ...writeOperations],
      }
    : { status, reason: `the store rejects writes: ${writesRefused}`, refused: writeOperations }
}

function refuseShuttingDown(reply: FastifyReply): FastifyReply {
  return reply.code(503).send({ status: 'shutting-down' })
}

/** The address of the ops listener, and the names by which it may be called. */
interface OpsAddress {
  readonly host: string
  /** Further names that a Host header may have, in lower case. */
  readonly hosts: readonly string[]
}

/** Names that nobody can register in public DNS: single labels, and those of clusters and private networks. */
const privateName = /^[^.]+$|\.(?:svc|svc\.cluster\.local|internal)$/

/**
 * Why the ops listener refuses a request, as its client is told; undefined = it is accepted.
 *
 * Browsers mark cross-origin requests (`Sec-Fetch-Site`, `Origin`), with one exception: DNS rebinding, where the name
 * of the page resolves to this machine. Then only `Host` shows it, as it contains that name. So a name must be a
 * known one; an address cannot be rebound, and browsers always send a `Host`.
 */
export function refuseCrossOrigin(headers: IncomingHttpHeaders, address: OpsAddress): string | undefined {
  const { host, origin, 'sec-fetch-site': site } = headers
  // `none`: the person typed the address, or opened a bookmark.
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return 'Sec-Fetch-Site: cross-origin requests are not allowed here'
  if (origin !== undefined && !isSameAuthority(origin, host))
    return 'Origin: cross-origin requests are not allowed here'
  if (host === undefined || host === '') return undefined
  const name = parseHost(host)
  if (name !== undefined && isListenerName(name.replace(/\.$/, ''), address)) return undefined
  return 'Host: not a known name of this listener; add it to ops.hosts in the config'
}

function isSameAuthority(origin: string, host: string | undefined): boolean {
  const originHost = URL.parse(origin)?.host
  // Parsed too, to get the form of an origin: in lower case, without a default port.
  return originHost !== undefined && originHost === URL.parse(`http://${host}`)?.host
}

function isListenerName(name: string, { host, hosts }: OpsAddress): boolean {
  if (isIP(withoutBrackets(name)) !== 0) return true
  if (name === 'localhost' || name.endsWith('.localhost') || name === host.toLowerCase()) return true
  if (hosts.includes(name) || name === hostname().toLowerCase()) return true
  // If it listens beyond this machine, scrapers call it by the name of a service.
  return !isLoopback(host) && privateName.test(name)
}
