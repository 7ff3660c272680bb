import { isIP } from 'node:net'
import { isPlainPath } from '#gateway/forward/stripped-prefix.ts'
import { foldHeaderName } from '#platform/text.ts'
import { hostProblem, originProblem } from '../hosts.ts'
import type { Path } from '../problem.ts'
import { reviewCertificates, reviewTlsPair } from '../schema/certificates.ts'
import type { SecretReference } from '../schema/node.ts'
import type { ConfigReview, ConfigTree } from '../schema/schema.ts'
import { unixPrefix } from '../schema/upstream.ts'
import { identityHeaders } from './identity.ts'
import { reservedInRequests } from './reserved-fields.ts'

/** Checks where targets are, that certificates can be read, and what health checks ask. */
export function reviewUpstreams(review: ConfigReview): void {
  const upstreams = review.hasValidShape(['upstreams']) ? review.tree.upstreams : {}
  for (const [name, { targets, tls }] of Object.entries(upstreams).filter(([name]) =>
    isShapedUpstream(review, name),
  )) {
    for (const [index, target] of targets.entries()) {
      review.check(['upstreams', name, 'targets', index, 'url'], () => targetProblem(target.url))
    }
    reviewChecks(review, name)
    reviewCertificates(review, ['upstreams', name, 'tls', 'ca'], tls.ca)
    reviewTargetTls(review, name)
  }
}

function reviewChecks(review: ConfigReview, name: string): void {
  const path = ['upstreams', name, 'health', 'active']
  if (!review.isValid(path) || !review.isValid(['upstreams', name, 'protocol'])) return
  const { health, protocol } = review.tree.upstreams[name] ?? {}
  const active = health?.active
  if (!active) return
  if (!active.path && !active.grpc) review.report([...path, 'path'], 'is missing: set path or grpc')
  if (active.path && active.grpc) review.report([...path, 'path'], 'cannot be combined with grpc')
  if (active.grpc && protocol !== 'http2') review.report([...path, 'grpc'], 'needs protocol: http2')
}

function isShapedUpstream(review: ConfigReview, name: string): boolean {
  return (
    review.hasValidShape(['upstreams', name, 'targets']) && review.hasValidShape(['upstreams', name, 'tls'])
  )
}

type HeadersTree = ConfigTree['upstreams'][string]['headers']

const valueLengthMax = 8_192
/** For all fields together, as few servers and clients accept a larger head. */
const linesLengthMax = 16_384

/** Checks that operators may set or remove the headers of upstreams, and that their values can be sent. */
export function reviewUpstreamHeaders(review: ConfigReview): void {
  const upstreams = review.hasValidShape(['upstreams']) ? review.tree.upstreams : {}
  const reasonOf = createReservedLookup(review)
  for (const [name, upstream] of Object.entries(upstreams)) {
    const path = ['upstreams', name, 'headers']
    if (!['set', 'remove'].every((part) => review.hasValidShape([...path, part]))) continue
    const { headers } = upstream
    reviewNames(review, headers, { path, reasonOf })
    reviewValues(review, [...path, 'set'], headers.set)
  }
}

interface Place {
  readonly path: Path
  /** Why a field cannot be set or removed; undefined = it can. */
  reasonOf(folded: string): string | undefined
}

function createReservedLookup(review: ConfigReview): Place['reasonOf'] {
  const identity = identityHeaders(review)
  return (folded) => {
    if (folded === '') return 'must contain a letter or digit'
    if (identity.has(folded)) return 'tells the backend who is calling: only the gateway says that'
    return reservedInRequests.get(folded)
  }
}

/** A field is set only once, and a field that is set need not be removed. */
function reviewNames(review: ConfigReview, { set, remove }: HeadersTree, { path, reasonOf }: Place): void {
  const seen = new Map<string, string>()
  const entries = [
    ...Object.keys(set).map((name) => ({ name, at: [...path, 'set', name], kind: 'key' as const })),
    ...remove.map((name, index) => ({ name, at: [...path, 'remove', index], kind: 'value' as const })),
  ]
  for (const { name, at, kind } of entries) {
    if (kind === 'value' && !review.isValid(at)) continue
    const folded = foldHeaderName(name)
    const reason = reasonOf(folded)
    const other = seen.get(folded)
    if (reason !== undefined) review.report(at, `"${name}" ${reason}`, kind)
    else if (other !== undefined)
      review.report(at, `"${name}" is already named by ${other} (only letters and digits are compared)`, kind)
    seen.set(folded, kind === 'key' ? `set.${name}` : `remove: ${name}`)
  }
}

/** Checks that values can be sent. @param path of the map that sets them */
export function reviewValues(review: ConfigReview, path: Path, set: HeadersTree['set']): void {
  let length = 0
  for (const [field, value] of Object.entries(set)) {
    const at = [...path, field]
    const text = review.isValid(at) ? readValue(review, at, value) : undefined
    const problem = text === undefined ? undefined : valueProblem(text)
    if (problem !== undefined) review.report(at, problem)
    else length += field.length + (text?.length ?? 0)
  }
  if (length > linesLengthMax)
    review.report(path, `names and values together must have at most ${linesLengthMax} characters`)
}

function readValue(review: ConfigReview, at: Path, value: string | SecretReference): string | undefined {
  return typeof value === 'string' ? value : review.secret(at, value)
}

/** The value itself may be a secret: it is never repeated. */
function valueProblem(value: string): string | undefined {
  if (value.length > valueLengthMax) return `must have at most ${valueLengthMax} characters`
  if (/[\r\n]/.test(value)) return 'must not contain a line break'
  if (/^[ \t]|[ \t]$/.test(value)) return 'must not begin or end with a space or tab'
  if (!/^[\t -~]+$/.test(value)) return 'must be visible ASCII, with spaces and tabs only inside'
  return undefined
}

const example = 'http://10.0.0.11:3000'

/** The maximum on Linux, including the zero byte at its end. */
const socketPathBytesMax = 107

/** What keeps a text from being the URL of a target; undefined if it is one. */
function targetProblem(text: string): string | undefined {
  if (text.startsWith(unixPrefix)) return socketProblem(text.slice(unixPrefix.length))
  const [, origin = text, path = ''] = /^(https?:\/\/[^/?#\\]*)((?:[/\\][^?#]*)?)$/i.exec(text) ?? []
  if (origin === text && /[?#]/.test(text)) return 'must have no query or fragment'
  return originProblem(origin, example) ?? basePathProblem(path)
}

function basePathProblem(path: string): string | undefined {
  if (path === '' || path === '/') return undefined
  if (/(?:\/|\\)(?:\.|%2e){1,2}(?:[/\\;]|$)/i.test(path))
    return 'must have no dot segment (. or ..) in its base path'
  if (isPlainPath(path.replace(/\/$/, '')) && !path.endsWith('//')) return undefined
  return `must have a base path without empty segments, backslashes, parameters or encoded slashes, in ASCII, as in ${example}/base`
}

function socketProblem(path: string): string | undefined {
  if (path === '' || path.endsWith('/') || path.startsWith('//') || /[?#\0]/.test(path))
    return 'must have the path of a socket after unix:, as in unix:/run/app.sock'
  if (Buffer.byteLength(path) > socketPathBytesMax)
    return `must have a path of at most ${socketPathBytesMax} bytes, as sockets have`
  return undefined
}

/** Checks the name that certificates of targets must have, and the certificate that the gateway shows them. */
function reviewTargetTls(review: ConfigReview, name: string): void {
  const path = ['upstreams', name, 'tls']
  if (!review.isValid(path)) return
  const { cert, key, serverName } = review.tree.upstreams[name]?.tls ?? {}
  const nameProblem = serverName === undefined ? undefined : serverNameProblem(serverName)
  if (nameProblem !== undefined) review.report([...path, 'serverName'], nameProblem)
  if (cert && key) reviewTlsPair(review, path, { cert, key })
  else if (cert) review.report([...path, 'cert'], 'needs its key: set tls.key too')
  else if (key) review.report([...path, 'key'], 'needs its certificate: set tls.cert too')
}

/** A server name is a name, never an address (RFC 6066 3). */
function serverNameProblem(name: string): string | undefined {
  if (isIP(name) === 0 && !name.startsWith('[')) return hostProblem(name)
  return 'must be a host name: a certificate for an address is found by the address in url'
}
