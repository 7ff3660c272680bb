import {
  fieldNameMemo,
  firstOwnMark,
  framingNames,
  type MarkedName,
  NameTable,
} from '#http/message/name-table.ts'
import type { Carriers } from '#identity/carriers.ts'
import { isKeyAuthorization } from '#identity/credentials.ts'
import { memoizeBounded } from '#platform/memoize.ts'
import { foldHeaderName } from '#platform/text.ts'
import { secondTargetNames } from '../arrival/second-target-fields.ts'

/** How a request header is treated. */
export type HeaderRule =
  /** Forwarded as it is. */
  | 'pass'
  /** Never forwarded: hop-by-hop, framing, identity, or set by the gateway. */
  | 'drop'
  /** Forwarded only if the route says so, or (`authorization`, and the proof beside it) if the caller is anonymous. */
  | 'secret-key'
  | 'authorization'
  | 'method-override'
  /** Forwarded without the gateway's own cookies. */
  | 'cookie'
  /** Forwarded; the stripped prefix is removed from the resources that it names. */
  | 'if'
  /** Forwarded from a trusted proxy only. */
  | 'forwarding-field'
  /** Forwarded from a trusted proxy only, and replaced if the gateway strips a prefix. */
  | 'prefix'
  /** Forwarded if the route forwards trailer fields. */
  | 'trailer'
  /** Forwarded from HTTP/1.1 clients. */
  | 'expect'

export interface HeaderRules {
  ruleOf(name: string): HeaderRule
  /** Marks the names whose rule is not `pass`, and those that the gateway reads. */
  readonly names: NameTable
  /** Whether an Authorization header carries a secret key: the backend is not to see it, whoever is calling. */
  isKeyAuthorization(value: string): boolean
  /** The name as foldHeaderName reduces it. */
  foldedName(name: string): string
}

/** Marks of request fields in addition to those that parsing a head needs. */
export const requestMark = {
  dropped: firstOwnMark,
  authorization: firstOwnMark + 1,
  cookie: firstOwnMark + 2,
  methodOverride: firstOwnMark + 3,
  /** Forwarded from trusted proxies only. */
  forwarding: firstOwnMark + 4,
  /** Depends on more than its name. */
  special: firstOwnMark + 5,
  /** These four are replaced; the values of trusted proxies are read. */
  forwardedFor: firstOwnMark + 6,
  forwardedProto: firstOwnMark + 7,
  forwardedHost: firstOwnMark + 8,
  requestId: firstOwnMark + 9,
  origin: firstOwnMark + 10,
  /** Forwarded from trusted proxies only, and replaced where the gateway strips a prefix. */
  forwardedPrefix: firstOwnMark + 11,
  /** The first header of `keys.accept`; the others follow by number. */
  key: firstOwnMark + 12,
} as const

/** Hop-by-hop (RFC 9110 7.6.1), and the routing that the gateway does itself. */
const hopByHopNames = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'upgrade',
  'host',
])

/** Names that the gateway sets itself; the values of a trusted proxy are appended (see client.ts). */
const gatewayNames = ['xrequestid', 'xforwardedfor', 'xforwardedproto', 'xforwardedhost']

/**
 * The framing, which the gateway does itself. A server that turns names into variables reads `Content_Length` as a
 * second length, and may take a body for the next request.
 */
const framingVariables = ['contentlength', 'transferencoding']

/**
 * What a proxy tells the backend about itself: addresses, the prefix that it strips (WSGI, Radicale), and how it
 * handles files that the backend only names (Rack::Sendfile, CVE-2025-61780).
 */
const forwardingNames = new Set([
  'clientcert',
  'clientcertchain',
  'forwarded',
  'xrealip',
  'xscriptname',
  'xsendfiletype',
  'xaccelmapping',
])

/**
 * Frameworks took the path from these fields, which IIS sets (CVE-2018-14773), although the route was matched by that
 * of the request line. Not even a trusted proxy may send them.
 */
export const pathOverrides = ['xoriginalurl', 'xrewriteurl', 'xhttppathoverride']

/** Names that commonly carry an identity: dropped whether or not they are configured. */
export const identityNames: readonly string[] = [
  'X-User-Id',
  'X-User-Role',
  'X-User-Email',
  'X-User-Verified',
  'X-User-Name',
  'X-User-Session',
  'X-User-Scheme',
  'X-User-Key',
  'X-User-Scopes',
  'X-User-Plan',
  'X-User-Issuer',
  'X-Gatehouse-Assertion',
]

/** These override the method at the backend, but the route was matched by the one in the request line. */
export const methodOverrides = new Set(['xhttpmethodoverride', 'xhttpmethod', 'xmethodoverride'])

/** Dropped even if it is not a configured carrier: clients that were not told of the change still send keys in it. */
const secretKeyName = 'SecretKey'

// CGI turns it into HTTP_PROXY, which configures a program's proxy (httpoxy, CVE-2016-5385); no field has this name.
const proxyVariable = 'proxy'

/**
 * Rules for header names, each computed once. Of names that carry an identity, a secret key or a length only letters
 * and digits count (foldHeaderName).
 * @param configured names of the identity headers
 */
export function createHeaderRules(configured: readonly string[], carriers: Carriers): HeaderRules {
  const keyNames = [secretKeyName, ...carriers.headers].map((name) => name.toLowerCase())
  const keyFields = new Set(keyNames)
  const dropped = new Set([
    ...gatewayNames,
    ...[...identityNames, ...configured, ...keyNames].map(foldHeaderName),
    ...pathOverrides,
    ...secondTargetNames,
    ...framingVariables,
    proxyVariable,
  ])

  function classify(name: string): HeaderRule {
    const lower = name.toLowerCase()
    if (keyFields.has(lower)) return 'secret-key'
    if (lower === 'authorization' || lower === 'dpop') return 'authorization'
    if (lower === 'cookie') return 'cookie'
    if (lower === 'trailer' || lower === 'expect' || lower === 'if') return lower
    const plain = foldHeaderName(name)
    if (hopByHopNames.has(lower) || dropped.has(plain)) return 'drop'
    if (methodOverrides.has(plain)) return 'method-override'
    if (plain === 'xforwardedprefix') return 'prefix'
    return plain.startsWith('xforwarded') || forwardingNames.has(plain) ? 'forwarding-field' : 'pass'
  }

  return {
    names: new NameTable(markedNames(dropped, carriers)),
    ruleOf: memoizeBounded(fieldNameMemo, classify),
    isKeyAuthorization: (value) => isKeyAuthorization(value, carriers),
    foldedName: memoizeBounded(fieldNameMemo, foldHeaderName),
  }
}

/** @param dropped folded names that are dropped however they are spelled */
function markedNames(dropped: ReadonlySet<string>, { headers }: Carriers): readonly MarkedName[] {
  const framing = new Set(framingNames.map(({ name }) => name))
  const hopByHop = [...hopByHopNames].filter((name) => !framing.has(name) && name !== 'te')
  return [
    ...folded(requestMark.dropped, dropped),
    ...folded(requestMark.special, secondTargetNames),
    ...folded(requestMark.methodOverride, methodOverrides),
    ...folded(requestMark.forwarding, forwardingNames),
    ...folded(requestMark.forwardedPrefix, ['xforwardedprefix']),
    { name: 'xforwarded', mark: requestMark.forwarding, isPrefix: true },
    ...framingNames,
    ...exactly(requestMark.dropped, hopByHop),
    ...exactly(requestMark.special, ['te', 'trailer', 'if', 'service-worker', 'dpop']),
    ...exactly(requestMark.authorization, ['authorization']),
    ...exactly(requestMark.forwardedFor, ['x-forwarded-for']),
    ...exactly(requestMark.forwardedProto, ['x-forwarded-proto']),
    ...exactly(requestMark.forwardedHost, ['x-forwarded-host']),
    ...exactly(requestMark.requestId, ['x-request-id']),
    ...exactly(requestMark.origin, ['origin']),
    ...exactly(requestMark.cookie, ['cookie']),
    ...headers.map((name, index) => ({ name, mark: requestMark.key + index })),
  ]
}

function folded(mark: number, names: Iterable<string>): readonly MarkedName[] {
  return [...names].map((name) => ({ name, mark, isFolded: true }))
}

function exactly(mark: number, names: readonly string[]): readonly MarkedName[] {
  return names.map((name) => ({ name, mark }))
}
