import type { ClientExchange } from '#http/client-exchange.ts'
import type { NameTable } from '#http/message/name-table.ts'
import type { RequestHead } from '#http/request-head.ts'
import { MarkedHead } from '#http/server/marked-head.ts'
import type { Upstream } from '#http/upstream/upstream.ts'
import type { Access } from '#identity/access.ts'
import { anonymousDecision, credentialsMissing } from '#identity/authenticate.ts'
import type { Authenticator } from '#identity/authenticator.ts'
import { authorizeFrom } from '#identity/authorize.ts'
import type { Carriers } from '#identity/carriers.ts'
import type { AllowedDecision, Principal } from '#identity/decision.ts'
import type { AddressSet } from '#platform/addresses.ts'
import { copyString } from '#platform/text.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import { callerTextsOf } from '../arrival/caller-texts.ts'
import { readClient } from '../arrival/client.ts'
import type { Cors } from '../arrival/cors.ts'
import { recordCorsHeaders } from '../arrival/outcome.ts'
import { createRequestId, trustedRequestId } from '../arrival/request-id.ts'
import { framingLine, isLastOnConnection } from '../forward/connection-lines.ts'
import type { OwnCookies } from '../forward/own-cookies.ts'
import { forwardedPrefix } from '../forward/stripped-prefix.ts'
import { hasUpstream } from '../gate/route-request.ts'
import type { OwnPaths } from '../routes/own-paths.ts'
import { readRequestTarget } from '../routes/request-target.ts'
import type { Route } from '../routes/route.ts'
import type { Destination, RouteTable } from '../routes/table.ts'
import type { Forwarding, LaneFindings } from './lane-arrival.ts'
import { LaneRequest } from './lane-request.ts'
import { createOrdinaryHeadReader, type OrdinaryFields } from './ordinary-head.ts'

/** The same parts decide about every other request. */
interface FastLaneOptions {
  readonly names: NameTable
  readonly carriers: Carriers
  readonly trusted: AddressSet
  /** undefined = CORS is left to the upstreams. */
  readonly cors: Pick<Cors, 'headersFor'> | undefined
  readonly ownPaths: Pick<OwnPaths, 'mayHave' | 'isOwnHost'>
  readonly table: RouteTable<Upstream | undefined>
  readonly authenticator: Authenticator
  readonly ownCookies: OwnCookies
  /** Field lines that say who is calling. */
  writeIdentity(principal: Principal): string
  readonly forwarding: Forwarding
}

/**
 * Recognises an ordinary request in one pass: a caller about whom a decision was made a moment ago, no cookies of the
 * gateway, no upgrade, no field whose value has to be looked at. With assertions or tracing there is no fast lane
 * (runtime/assembly/traffic.ts).
 * @returns undefined if the request is not ordinary: the general path then takes the same steps
 *   (gateway/server/server.ts)
 */
export type RecognizeOrdinary = (exchange: ClientExchange, head: RequestHead) => LaneRequest | undefined

export function createFastLane(options: FastLaneOptions): RecognizeOrdinary {
  const { names, carriers, trusted, cors, ownPaths, table, authenticator, forwarding, writeIdentity } =
    options
  const readHead = createOrdinaryHeadReader(options)

  return function recognize(exchange, head) {
    if (!(head instanceof MarkedHead) || head.names !== names || !hasOrdinaryStart(head, exchange))
      return undefined
    const isTrusted = trusted.has(exchange.peerAddress)
    const fields = readHead(head, isTrusted)
    if (fields === undefined) return undefined
    const { host } = fields
    const client = readClient(exchange, host.sent, fields, trusted)
    const destination = client.host === '' ? undefined : readDestination(head, host.name)
    if (destination === undefined) return undefined
    const route = findRoute(head, fields, destination)
    if (route === undefined) return undefined
    const now = monotonicClock()
    const caller = recallCaller(route.access, fields, now)
    if (caller === undefined || !isFinal(caller, route.access, client.address)) return undefined
    const { decision, credential } = caller
    const request = new LaneRequest(exchange, head, {
      arrivedAt: now,
      client,
      requestId: trustedRequestId(fields, isTrusted) ?? createRequestId(),
      host: host.sent,
      destination,
      route,
      decision,
      credential,
      carriers,
      forwarding,
    })
    if (cors) recordCorsHeaders(request.outcome, cors.headersFor(fields.origin))
    if (decision.kind === 'allowed') admit(request, decision, fields.lines)
    return request
  }

  function findRoute(
    head: MarkedHead,
    { hasOuterPrefix }: OrdinaryFields,
    { target, hostName }: Destination,
  ): Route<Upstream> | undefined {
    if (ownPaths.mayHave(target.path) || ownPaths.isOwnHost(hostName)) return undefined
    const match = table.match(hostName, target, head.method)
    if (match.kind !== 'route' || !hasUpstream(match.route)) return undefined
    if (hasOuterPrefix && match.route.rewrite !== undefined) return undefined
    return forwardsInSlices(match.route, head) ? match.route : undefined
  }

  function recallCaller(
    access: Access,
    { text, credentialStart: from, credentialEnd: to, carrier }: OrdinaryFields,
    now: MonotonicMs,
  ): Caller | undefined {
    if (access.kind === 'public') return to === 0 ? anonymous : undefined
    if (to === 0) return access.isOptional || carriers.certificate ? undefined : withoutCredential
    return authenticator.recall(access, { text, from, to, carrier }, now)
  }

  /**
   * Whether nothing but the cache is needed: a caller who would be refused for a role or an address is left to the
   * general path, which asks the store first.
   */
  function isFinal({ decision }: Caller, access: Access, address: string): boolean {
    if (decision.kind === 'refused' || decision.principal === undefined) return true
    const { principal } = decision
    return principal.profile !== undefined && authorizeFrom(address, access, principal) === undefined
  }

  function admit(request: LaneRequest, decision: AllowedDecision, kept: string): void {
    if (decision.principal !== undefined) authenticator.countHit()
    request.headerLines = writeLines(request, decision, kept)
  }

  /** In the order of gateway/forward/upstream-head.ts: identity last, so that no client field can follow it. */
  function writeLines(request: LaneRequest, decision: AllowedDecision, kept: string): string {
    const { head, client, requestId, strippedPrefix } = request
    const prefix = strippedPrefix === undefined ? '' : forwardedPrefix(strippedPrefix)
    return (
      kept +
      framingLine(head.body) +
      'X-Forwarded-Proto: ' +
      client.protocol +
      '\r\nX-Forwarded-Host: ' +
      client.host +
      (prefix === '' ? '' : `\r\nX-Forwarded-Prefix: ${prefix}`) +
      '\r\nX-Forwarded-For: ' +
      client.forwardedFor +
      '\r\nX-Request-Id: ' +
      requestId +
      '\r\n' +
      identityLines(decision)
    )
  }

  /** The lines are written once for each decision, and kept with it. */
  function identityLines(decision: AllowedDecision): string {
    const texts = callerTextsOf(decision)
    if (texts.identityWriter !== writeIdentity) {
      const { principal } = decision
      texts.identityWriter = writeIdentity
      texts.identityLines = principal === undefined ? '' : copyString(writeIdentity(principal))
    }
    return texts.identityLines
  }
}

type Caller = Pick<LaneFindings, 'decision' | 'credential'>

const anonymous: Caller = { decision: anonymousDecision, credential: undefined }
const withoutCredential: Caller = { decision: credentialsMissing, credential: undefined }

/** Methods with semantics of their own: left to the general path. */
const specialMethods: ReadonlySet<string> = new Set(['OPTIONS', 'CONNECT', 'TRACE'])

function hasOrdinaryStart(head: MarkedHead, { isHttp2 }: ClientExchange): boolean {
  const { minorVersion, upgrade, expectsContinue, method, body } = head
  // It may be a call of gRPC, whose body does not end before the call does.
  if (isHttp2 && body.kind !== 'none') return false
  return minorVersion === 1 && upgrade === undefined && !expectsContinue && !specialMethods.has(method)
}

function readDestination(head: MarkedHead, hostName: string): Destination | undefined {
  const target = readRequestTarget(head.target, head.hasPlainTarget)
  if (typeof target === 'string' || target.path !== target.sentPath || target.hasEmptySegment)
    return undefined
  return { target, hostName }
}

/** Whether the route needs nothing that only the general path does, such as an inspection of fields or bodies. */
function forwardsInSlices(route: Route<Upstream>, head: MarkedHead): boolean {
  const { body } = head
  return (
    !route.forwardsCredentials &&
    !route.access.leavesAuthorization &&
    !isLastOnConnection(head, route) &&
    route.browser === undefined &&
    !route.saysCost &&
    route.upstream.addsNothing &&
    (body.kind !== 'counted' || body.length <= route.bodyBytesMax)
  )
}
