import type { Principal } from '../auth/principal.ts'
import type { Route } from '../routes/route.ts'
import { copyOf } from '../wire/copy.ts'
import type { RequestBody } from '../wire/request-head.ts'
import type { Client } from './client.ts'
import { withoutCookie } from './cookies.ts'
import type { HeaderRule, HeaderRules } from './header-rules.ts'

export interface RequestHeadInput {
  /** Name, value, name, value, as they arrived. */
  readonly rawHeaders: readonly string[]
  /** Whether this very array came before, a moment ago. */
  readonly isFamiliar: boolean
  readonly route: Pick<Route<{ readonly name: string }>, 'forwardsCredentials' | 'upstream'>
  readonly principal: Principal | undefined
  readonly client: Client
  readonly requestId: string
  readonly body: RequestBody
  /** Names in Connection, in lower case; they concern only the connection they came on. */
  readonly connectionNames: ReadonlySet<string> | undefined
  readonly isUpgrade: boolean
}

export interface RequestHeadOptions {
  readonly rules: HeaderRules
  /** Lines that say who is calling, each ended by CR LF. @param upstream the name of whom it is said to */
  writeIdentity(principal: Principal, upstream: string): string
  /** Name of the cookie that never leaves the gateway. */
  readonly refreshCookie: string
}

/** Lines that were written before, and for whom: all that they depend on beside the array they come from. */
interface Written extends Pick<RequestHeadInput, 'route' | 'isUpgrade'> {
  readonly isTrusted: boolean
  readonly isAnonymous: boolean
  readonly lines: string
}

/** What a name in Connection cannot take away: the framing and the routing of the request. */
const keptThough = new Set(['host', 'content-length', 'transfer-encoding', 'expect'])

export interface RequestWriter {
  /**
   * The header lines for the upstream, all but Host. What the client sent comes first, less what must not
   * pass; what the gateway says comes after, the identity last.
   */
  writeHead(input: RequestHeadInput): string
  /** The trailer lines, by the same rules: a server may take a trailer field for a header field. */
  writeTrailers(rawTrailers: readonly string[]): string
}

/** Makes what writes requests for the upstreams, as lines that are each ended by CR LF. */
export function createRequestWriter({
  rules,
  writeIdentity,
  refreshCookie,
}: RequestHeadOptions): RequestWriter {
  const before = new WeakMap<readonly string[], Written>()

  function writeHead(input: RequestHeadInput): string {
    const { route, principal, client, requestId, isFamiliar } = input
    const lines =
      (isFamiliar ? familiarLines(input) : clientLines(input)) +
      `X-Forwarded-For: ${client.forwardedFor}\r\nX-Forwarded-Proto: ${client.protocol}\r\n` +
      `X-Forwarded-Host: ${client.host}\r\nX-Request-Id: ${requestId}\r\n`
    // Last, so that nothing the client sent can stand after it.
    return principal === undefined ? lines : lines + writeIdentity(principal, route.upstream.name)
  }

  /** Those of heads that come again and again are written once. */
  function familiarLines(input: RequestHeadInput): string {
    const { rawHeaders, route, isUpgrade } = input
    const { isTrusted } = input.client
    const isAnonymous = input.principal === undefined
    const written = before.get(rawHeaders)
    if (
      written?.route === route &&
      written.isUpgrade === isUpgrade &&
      written.isTrusted === isTrusted &&
      written.isAnonymous === isAnonymous
    ) {
      return written.lines
    }
    const lines = copyOf(clientLines(input))
    before.set(rawHeaders, { route, isUpgrade, isTrusted, isAnonymous, lines })
    return lines
  }

  /** What the client sent, less what must not pass, and how the request is framed. */
  function clientLines(input: RequestHeadInput): string {
    const { rawHeaders, connectionNames, body, isUpgrade } = input
    let lines = ''
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const name = rawHeaders[index] ?? ''
      const rule = rules.ruleOf(name)
      if (!passes(rule, input) || (connectionNames !== undefined && isNominated(connectionNames, name)))
        continue
      const value = rawHeaders[index + 1] ?? ''
      lines +=
        rule === 'cookie' ? cookieLine(name, withoutCookie(value, refreshCookie)) : `${name}: ${value}\r\n`
    }
    lines += bodyLine(body)
    return isUpgrade ? `${lines}Connection: Upgrade\r\nUpgrade: websocket\r\n` : lines
  }

  function writeTrailers(rawTrailers: readonly string[]): string {
    let lines = ''
    for (let index = 0; index + 1 < rawTrailers.length; index += 2) {
      const name = rawTrailers[index] ?? ''
      if (rules.ruleOf(name) === 'pass') lines += `${name}: ${rawTrailers[index + 1]}\r\n`
    }
    return lines
  }

  return { writeHead, writeTrailers }
}

/** Whether a header of this request that a rule is about is forwarded. */
function passes(rule: HeaderRule, { route, client, principal }: RequestHeadInput): boolean {
  switch (rule) {
    case 'pass':
    case 'cookie':
      return true
    case 'drop':
      return false
    case 'secret-key':
      return route.forwardsCredentials
    case 'authorization':
      // Where nobody was authenticated, it is between the client and the upstream.
      return route.forwardsCredentials || principal === undefined
    case 'proxy-word':
      return client.isTrusted
    default:
      return rule satisfies never
  }
}

function isNominated(names: ReadonlySet<string>, name: string): boolean {
  const lower = name.toLowerCase()
  return names.has(lower) && !keptThough.has(lower)
}

function cookieLine(name: string, value: string): string {
  return value === '' ? '' : `${name}: ${value}\r\n`
}

function bodyLine(body: RequestBody): string {
  switch (body.kind) {
    case 'none':
      return body.isEmpty ? 'Content-Length: 0\r\n' : ''
    case 'counted':
      return `Content-Length: ${body.length}\r\n`
    case 'chunked':
      return 'Transfer-Encoding: chunked\r\n'
    default:
      return body satisfies never
  }
}
