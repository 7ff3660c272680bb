import type { ClientExchange } from '#http/exchange/client-exchange.ts'
import type { RequestHead } from '#http/exchange/request-head.ts'
import type { NameTable } from '#http/h1/name-table.ts'
import { ParsedHead } from '#http/h1/parsed-head.ts'
import type { Upstream } from '#http/upstream/upstream.ts'
import type { Access } from '#identity/access.ts'
import { credentialsMissing } from '#identity/authenticate.ts'
import type { Authenticator } from '#identity/authenticator.ts'
import { authorize, isFromAllowedAddress } from '#identity/authorize.ts'
import type { Credential } from '#identity/credentials.ts'
import type { AllowedDecision, Decision } from '#identity/decision.ts'
import type { Carriers } from '#identity/keys/carriers.ts'
import type { Principal } from '#identity/principal.ts'
import type { AddressSet } from '#platform/addresses.ts'
import { monotonicClock } from '#platform/clock.ts'
import { copyString } from '#platform/text.ts'
import { framingLine } from '../forward/hop-by-hop.ts'
import type { OwnCookies } from '../forward/own-cookies.ts'
import { isLastOnConnection } from '../forward/request-head.ts'
import type { Destination } from '../gate/outcome.ts'
import { hasUpstream } from '../gate/route-request.ts'
import { parseHost } from '../routes/host-name.ts'
import type { OwnPaths } from '../routes/own-paths.ts'
import { parseRequestTarget } from '../routes/request-target.ts'
import type { Route } from '../routes/route.ts'
import type { RouteTable } from '../routes/table.ts'
import type { Forwarding } from './lane-arrival.ts'
import { LaneRequest } from './lane-request.ts'
import { createOrdinaryHeadReader, type OrdinaryHead } from './ordinary-head.ts'

/** What the lane needs of the parts that decide about every other request as well. */
export interface FastLaneOptions {
  readonly names: NameTable
  readonly carriers: Carriers
  readonly trusted: AddressSet
  readonly ownPaths: Pick<OwnPaths, 'mayHave' | 'isOwnHost'>
  readonly table: RouteTable<Upstream | undefined>
  readonly authenticator: Authenticator
  readonly ownCookies: OwnCookies
  /** The lines that say who is calling, each ended by CR LF. */
  writeIdentity(principal: Principal): string
  /** Whether requests are traced. */
  readonly isTraced: boolean
  readonly forwarding: Forwarding
}

/**
 * Decides in one go about an ordinary request: one of HTTP/1.1, whose caller was decided about a moment ago, without cookies
 * of the gateway, upgrades, or a field that more than its name decides about. It has no effect where it returns undefined:
 * the same steps are then made one by one (gateway/server/server.ts).
 */
export type FastLane = (connection: ClientExchange, head: RequestHead) => LaneRequest | undefined

export function createFastLane(options: FastLaneOptions): FastLane {
  const { names, carriers, trusted, ownPaths, table, authenticator, ownCookies, forwarding } = options
  const readHead = createOrdinaryHeadReader({ carriers, ownCookies, passesTraceparent: !options.isTraced })
  const hostNameOf = createHostNameReader()

  function findRoute(head: ParsedHead, destination: Destination): Route<Upstream> | undefined {
    const { target, hostName } = destination
    if (ownPaths.mayHave(target.path) || ownPaths.isOwnHost(hostName)) return undefined
    const match = table.match(hostName, target, head.method)
    return match.kind === 'route' && hasUpstream(match.route) && isPlain(match.route, head)
      ? match.route
      : undefined
  }

  function recallCaller(
    access: Access,
    head: ParsedHead,
    sent: OrdinaryHead,
    now: number,
  ): Caller | undefined {
    const { credentialStart: from, credentialEnd: to, carrier } = sent
    if (access.kind === 'public') return to === 0 ? anonymous : undefined
    if (to === 0) return access.isOptional ? undefined : unknown
    return authenticator.recall?.(access, { text: head.text, from, to, carrier }, now)
  }

  function mayPass(access: Access, principal: Principal | undefined, address: string): boolean {
    if (principal === undefined) return true
    // Without it something may be needed that the store alone knows.
    if (principal.profile === undefined) return false
    return isFromAllowedAddress(principal, address) && authorize(access, principal) === undefined
  }

  function identityOf(decision: AllowedDecision): string {
    const { principal } = decision
    if (principal === undefined) return ''
    decision.identityLines ??= copyString(options.writeIdentity(principal))
    return decision.identityLines
  }

  /** In the order of gateway/forward/request-head.ts: the identity comes last, so that no field of the client can follow it. */
  function writeLines(request: LaneRequest, decision: AllowedDecision, kept: string): string {
    const { head, client, requestId } = request
    return (
      kept +
      framingLine(head.body) +
      (client.protocol === 'https' ? afterHttps : afterHttp) +
      client.host +
      '\r\nX-Forwarded-For: ' +
      client.forwardedFor +
      '\r\nX-Request-Id: ' +
      requestId +
      '\r\n' +
      identityOf(decision)
    )
  }

  /** undefined = the target or the host is not plainly one of a route. */
  function readDestination(head: ParsedHead, host: string): Destination | undefined {
    const target = parseRequestTarget(head.target, head.hasPlainTarget)
    if (target === undefined || target.path !== target.sentPath) return undefined
    const hostName = hostNameOf(host)
    return hostName === undefined ? undefined : { target, hostName }
  }

  return function admit(connection, head) {
    if (!(head instanceof ParsedHead) || head.names !== names || !isOrdinary(head)) return undefined
    const { peerAddress } = connection
    if (trusted.has(peerAddress)) return undefined
    const sent = readHead(head)
    if (sent === undefined) return undefined
    const destination = readDestination(head, sent.host)
    if (destination === undefined) return undefined
    const route = findRoute(head, destination)
    if (route === undefined) return undefined
    const now = monotonicClock()
    const caller = recallCaller(route.access, head, sent, now)
    if (caller === undefined) return undefined
    const { decision, credential } = caller
    const isAllowed = decision.kind === 'allowed'
    if (isAllowed && !mayPass(route.access, decision.principal, peerAddress)) return undefined

    const { host } = sent
    const found = { arrivedAt: now, host, destination, route, decision, credential, carriers, forwarding }
    const request = new LaneRequest(connection, head, found)
    if (isAllowed) request.headerLines = writeLines(request, decision, sent.lines)
    return request
  }
}

const afterHttp = 'X-Forwarded-Proto: http\r\nX-Forwarded-Host: '
const afterHttps = 'X-Forwarded-Proto: https\r\nX-Forwarded-Host: '

interface Caller {
  readonly decision: Decision
  /** undefined = none came. */
  readonly credential: Credential | undefined
}

const anonymous: Caller = {
  decision: { kind: 'allowed', principal: undefined, scheme: undefined, holdsUntil: 0 },
  credential: undefined,
}

const unknown: Caller = { decision: credentialsMissing, credential: undefined }

function isOrdinary({ minorVersion, upgrade, expectsContinue, method }: ParsedHead): boolean {
  return minorVersion === 1 && upgrade === undefined && !expectsContinue && !isSpecial(method)
}

/** More is to be found out about these. */
function isSpecial(method: string): boolean {
  return method === 'OPTIONS' || method === 'CONNECT' || method === 'TRACE'
}

/** Whether nothing has to be done on a route that depends on more than the head. */
function isPlain(route: Route<Upstream>, head: ParsedHead): boolean {
  const { body } = head
  return (
    !route.stripPrefix &&
    !route.forwardsCredentials &&
    route.access.leavesAuthorization === undefined &&
    !isLastOnConnection(head, route) &&
    route.browser === undefined &&
    route.costHeader === undefined &&
    route.upstream.headers === undefined &&
    (body.kind !== 'counted' || body.length <= route.bodyBytesMax)
  )
}

/** Nearly all requests are for the host of the one before. */
function createHostNameReader(): (host: string) => string | undefined {
  let lastHost = ''
  let lastName: string | undefined
  return (host) => {
    if (host !== lastHost) {
      lastName = parseHost(host)
      lastHost = lastName === undefined ? '' : copyString(host)
    }
    return lastName
  }
}
