import type { NameTable } from '#http/message/name-table.ts'
import { fieldsIn, type RequestBody } from '#http/request-head.ts'
import type { UpstreamHeaders } from '#http/upstream/upstream-config.ts'
import type { Principal } from '#identity/decision.ts'
import { memoizeByObject } from '#platform/memoize.ts'
import type { Client } from '../arrival/client.ts'
import type { Route } from '../routes/route.ts'
import { connectionLines, framingLine } from './connection-lines.ts'
import type { HeaderRule, HeaderRules } from './header-rules.ts'
import type { AssertionHeader } from './identity-headers.ts'
import type { OwnCookies } from './own-cookies.ts'
import { atBasePath, forwardedPrefix, type StrippedPrefix, withoutPrefixInIf } from './stripped-prefix.ts'

/** The part of an upstream that the head depends on. */
export interface HeadUpstream {
  readonly name: string
  /** The fields that replace the client's; undefined = none. */
  readonly headers: UpstreamHeaders | undefined
  /** The base path that all its targets have; absent = none, or not the same. */
  readonly basePath?: string
}

export interface RequestHeadInput {
  /** Name, value, name, value, as they arrived. */
  readonly rawHeaders: readonly string[]
  readonly route: Pick<
    Route<HeadUpstream>,
    'forwardsCredentials' | 'access' | 'passesMethodOverride' | 'passesTrailers' | 'costField' | 'upstream'
  >
  readonly principal: Principal | undefined
  /** undefined = the route replaces nothing. */
  readonly strippedPrefix: StrippedPrefix | undefined
  readonly isUpgrade: boolean
  /** Replaces the client's traceparent; undefined = the client's is forwarded. */
  readonly traceparent?: string | undefined
  readonly client: Client
  readonly requestId: string
  readonly body: RequestBody
  /** Names in Connection, in lower case; these fields are hop-by-hop. */
  readonly connectionOptions: ReadonlySet<string> | undefined
  /** Whether the upstream is told that no request follows on the connection (see isLastOnConnection). */
  readonly isLast: boolean
  /** The client's HTTP version: 1.0 has neither trailer fields nor expectations. */
  readonly minorVersion: number
}

interface RequestHeadOptions {
  readonly rules: HeaderRules
  /** The identity header lines; always the same for the same principal. */
  writeIdentity(principal: Principal): string
  /** The assertion of the caller's identity; undefined = none is sent. */
  readonly assertion: AssertionHeader | undefined
  /** The cookies that never leave the gateway. */
  readonly ownCookies: OwnCookies
}

/** Fields that a name in Connection cannot remove: the framing and the routing of the request. */
const unremovableFields = new Set(['host', 'content-length', 'transfer-encoding', 'expect'])

export interface RequestWriter {
  /**
   * The header lines for the upstream, all but Host: first the client's forwarded fields, then those that the config
   * sets for the upstream, then those of the gateway, the identity last.
   */
  writeHead(input: RequestHeadInput): string
  /** The fields whose lines the reader of heads marks (HeaderRules). */
  readonly names: NameTable
  /** The trailer lines, by the same rules: a server may treat a trailer field as a header field. */
  writeTrailers(rawTrailers: readonly string[], upstream: HeadUpstream): string
}

/** Creates the writer of requests to the upstreams, as field lines. */
export function createRequestWriter(options: RequestHeadOptions): RequestWriter {
  const { rules, writeIdentity, assertion, ownCookies } = options
  const rulesWith = memoizeByObject(({ replacedNames }: UpstreamHeaders) => {
    return (name: string): HeaderRule =>
      replacedNames.has(rules.foldedName(name)) ? 'drop' : rules.ruleOf(name)
  })

  function writeHead(input: RequestHeadInput): string {
    const { route, principal, client, requestId, strippedPrefix, traceparent } = input
    const prefix = strippedPrefix === undefined ? '' : forwardedPrefix(strippedPrefix)
    const prefixLine = prefix === '' ? '' : `X-Forwarded-Prefix: ${prefix}\r\n`
    const lines =
      clientLines(input) +
      `X-Forwarded-Proto: ${client.protocol}\r\nX-Forwarded-Host: ${client.host}\r\n${prefixLine}` +
      `X-Forwarded-For: ${client.forwardedFor}\r\nX-Request-Id: ${requestId}\r\n` +
      (traceparent === undefined ? '' : traceLine(input, traceparent))
    // The identity comes last, so that no client field can follow it.
    if (principal === undefined) return lines
    const identified = lines + writeIdentity(principal)
    if (assertion === undefined) return identified
    return `${identified}${assertion.header}: ${assertion.of(principal, route.upstream.name)}\r\n`
  }

  /** The client's forwarded fields, the framing, and the fields set for the upstream. */
  function clientLines(input: RequestHeadInput): string {
    const { rawHeaders, connectionOptions, body, strippedPrefix } = input
    const { headers, basePath = '' } = input.route.upstream
    const ruleOf = ruleFor(headers)
    // The cost is read from the body as it passes, so it must not be compressed, unless the upstream's config says so.
    const asksForUncompressed = input.route.costField !== undefined && ruleOf('accept-encoding') === 'pass'
    let lines = ''
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const name = rawHeaders[index] ?? ''
      const rule = ruleOf(name)
      if (
        !isForwarded(rule, input) ||
        (rule === 'authorization' && isKeyToDrop(rawHeaders[index + 1] ?? '', input)) ||
        (connectionOptions !== undefined && isConnectionOption(connectionOptions, name)) ||
        (asksForUncompressed && name.toLowerCase() === 'accept-encoding')
      )
        continue
      const value = rawHeaders[index + 1] ?? ''
      lines +=
        rule === 'pass'
          ? `${name}: ${value}\r\n`
          : specialLine(rule, name, value, {
              ownCookies,
              strippedPrefix: atBasePath(strippedPrefix, basePath),
            })
    }
    if (asksForUncompressed) lines += 'Accept-Encoding: identity\r\n'
    const ownLines = framingLine(body) + connectionLines(input)
    return headers === undefined ? lines + ownLines : lines + ownLines + headers.lines
  }

  /** The gateway's traceparent is omitted if the client's Connection field lists traceparent as hop-by-hop. */
  function traceLine({ route, connectionOptions }: RequestHeadInput, traceparent: string): string {
    const isPassed = ruleFor(route.upstream.headers)('traceparent') === 'pass'
    const isHopByHop = connectionOptions !== undefined && isConnectionOption(connectionOptions, 'traceparent')
    return isPassed && !isHopByHop ? `traceparent: ${traceparent}\r\n` : ''
  }

  function ruleFor(headers: UpstreamHeaders | undefined): (name: string) => HeaderRule {
    return headers === undefined ? rules.ruleOf : rulesWith(headers)
  }

  /** Applies on a public route too, where credentials are not read. */
  function isKeyToDrop(authorization: string, { route }: RequestHeadInput): boolean {
    const keepsCredentials = route.forwardsCredentials || route.access.leavesAuthorization
    return !keepsCredentials && rules.isKeyAuthorization(authorization)
  }

  function writeTrailers(rawTrailers: readonly string[], { headers }: HeadUpstream): string {
    const ruleOf = ruleFor(headers)
    let lines = ''
    for (const [name, value] of fieldsIn(rawTrailers))
      if (ruleOf(name) === 'pass') lines += `${name}: ${value}\r\n`
    return lines
  }

  return { writeHead, writeTrailers, names: rules.names }
}

/** Whether a header of this request with a special rule is forwarded. */
function isForwarded(rule: HeaderRule, input: RequestHeadInput): boolean {
  const { route, client, principal, strippedPrefix, minorVersion } = input
  switch (rule) {
    case 'pass':
    case 'cookie':
    case 'if':
      return true
    case 'drop':
      return false
    case 'secret-key':
      return route.forwardsCredentials
    case 'authorization':
      // For anonymous callers the field is meant for the backend.
      return route.forwardsCredentials || route.access.leavesAuthorization || principal === undefined
    case 'method-override':
      return route.passesMethodOverride
    case 'forwarding-field':
      return client.isTrusted
    case 'prefix':
      return client.isTrusted && strippedPrefix === undefined
    case 'trailer':
      return route.passesTrailers
    case 'expect':
      // RFC 9110 10.1.1: with HTTP/1.0 it has no meaning.
      return minorVersion === 1
    default:
      return rule satisfies never
  }
}

function isConnectionOption(names: ReadonlySet<string>, name: string): boolean {
  const lower = name.toLowerCase()
  return names.has(lower) && !unremovableFields.has(lower)
}

interface SpecialLineOptions {
  /** The cookies that never leave the gateway. */
  readonly ownCookies: OwnCookies
  readonly strippedPrefix: StrippedPrefix | undefined
}

/** The line of a forwarded field whose rule is not `pass`; empty if nothing of it remains. */
function specialLine(
  rule: HeaderRule,
  name: string,
  value: string,
  { ownCookies, strippedPrefix }: SpecialLineOptions,
): string {
  if (rule === 'cookie') {
    const left = ownCookies.remove(value)
    return left === '' ? '' : `${name}: ${left}\r\n`
  }
  if (rule === 'if' && strippedPrefix) return `${name}: ${withoutPrefixInIf(value, strippedPrefix)}\r\n`
  return `${name}: ${value}\r\n`
}
