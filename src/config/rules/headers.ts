import { foldHeaderName } from '#platform/text.ts'
import type { Path } from '../problem.ts'
import type { ConfigReview, ConfigTree } from '../schema/schema.ts'
import { identityHeaders, reservedHeaders } from './identity.ts'

// The fields that the gateway alone decides about, by their folded names. The texts say why; in a message they follow
// the name.

const aboutConnection = 'is about one connection, and written by the gateway'
const handshake = 'belongs to the handshake between client and backend'
const aboutClient = 'tells the backend who the client is, and is written by the gateway'
const destination = 'names a second target, which the gateway checks and rewrites'
const trace = 'carries the trace, which the gateway continues'

const inBoth = {
  connection: aboutConnection,
  keepalive: aboutConnection,
  proxyconnection: aboutConnection,
  te: aboutConnection,
  upgrade: aboutConnection,
  secwebsocketaccept: handshake,
  secwebsocketversion: handshake,
}

function framing(message: string) {
  const frames = `frames the ${message}, and is written by the gateway`
  return { contentlength: frames, transferencoding: frames, trailer: frames }
}

/** In requests to a backend. */
const reservedInRequests: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...inBoth,
    ...framing('request'),
    proxyauthenticate: aboutConnection,
    proxyauthorization: aboutConnection,
    http2settings: aboutConnection,
    expect: 'frames the request, and is written by the gateway',
    maxforwards: 'is counted down by the gateway',
    host: 'is chosen by the option "host" of the upstream',
    xforwardedfor: aboutClient,
    xforwardedproto: aboutClient,
    xforwardedhost: aboutClient,
    xforwardedprefix: aboutClient,
    xrequestid: 'connects the log lines of gateway and backend, and is written by the gateway',
    destination,
    newuri: destination,
    traceparent: trace,
    tracestate: trace,
    proxy: 'is never forwarded: programs take it for the address of their proxy',
    secwebsocketkey: handshake,
  }),
)

/** In responses to a client. */
const reservedInResponses: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...inBoth,
    ...framing('response'),
    proxyauthenticate: aboutConnection,
    date: 'is written by the gateway where the backend sends none',
    xrequestid: 'connects the response with the log, and is written by the gateway',
    secwebsocketprotocol: handshake,
    secwebsocketextensions: handshake,
  }),
)

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
function reviewValues(review: ConfigReview, path: Path, set: HeadersTree['set']): void {
  let length = 0
  for (const [field, value] of Object.entries(set)) {
    const at = [...path, field]
    const text = review.isValid(at)
      ? typeof value === 'string'
        ? value
        : review.secret(at, value)
      : undefined
    const problem = text === undefined ? undefined : valueProblem(text)
    if (problem !== undefined) review.report(at, problem)
    else length += field.length + (text?.length ?? 0)
  }
  if (length > linesLengthMax)
    review.report(path, `names and values together must have at most ${linesLengthMax} characters`)
}

/** The value itself may be a secret: it is never repeated. */
function valueProblem(value: string): string | undefined {
  if (value.length > valueLengthMax) return `must have at most ${valueLengthMax} characters`
  if (/[\r\n]/.test(value)) return 'must not contain a line break'
  if (/^[ \t]|[ \t]$/.test(value)) return 'must not begin or end with a space or tab'
  if (!/^[\t -~]+$/.test(value)) return 'must be visible ASCII, with spaces and tabs only inside'
  return undefined
}

type RouteTree = ConfigTree['routes'][number]

/** Checks that response headers are the operator's to set or remove, and that their values can be sent. */
export function reviewResponseHeaders(
  review: ConfigReview,
  index: number,
  { responseHeaders }: RouteTree,
): void {
  const path = ['routes', index, 'responseHeaders']
  if (!['set', 'remove'].every((part) => review.hasValidShape([...path, part]))) return
  const { set, remove } = responseHeaders
  const setNames = Object.keys(set).map((name) => ({ name, at: [...path, 'set', name], isSet: true }))
  const removed = remove.map((name, place) => ({ name, at: [...path, 'remove', place], isSet: false }))
  const seen = new Set<string>()
  for (const { name, at, isSet } of [...setNames, ...removed]) {
    if (!isSet && !review.isValid(at)) continue
    const lower = name.toLowerCase()
    const problem = seen.has(lower) ? 'is named more than once' : nameProblem(review, name, isSet)
    seen.add(lower)
    if (problem !== undefined) review.report(at, `"${name}" ${problem}`, isSet ? 'key' : 'value')
  }
  reviewValues(review, [...path, 'set'], set)
}

function nameProblem(review: ConfigReview, name: string, isSet: boolean): string | undefined {
  const folded = foldHeaderName(name)
  if (folded.startsWith('accesscontrol') && review.isValid(['cors']) && review.tree.cors.origins.length > 0)
    return 'is decided by cors.origins'
  if (isSet && folded === 'setcookie')
    return 'would replace the cookies of the backend: let the backend set it'
  // A proxy in front may copy it to the requests that it forwards.
  if (isSet && identityHeaders(review).has(folded)) return 'says who is calling: clients need not know'
  return reservedInResponses.get(folded)
}

/** The field is removed from every response, so it must not be one that clients need. */
export function reviewCostHeader(review: ConfigReview, index: number, { costHeader }: RouteTree): void {
  const path = ['routes', index, 'costHeader']
  if (costHeader === undefined || !review.isValid(path)) return
  const normalized = foldHeaderName(costHeader)
  if (normalized === '') review.report(path, 'must contain a letter or digit')
  else if (reservedHeaders.has(normalized) || reservedResponseHeaders.has(normalized))
    review.report(path, `"${costHeader}" is a reserved header: choose another name`)
}

/** Further headers that responses need, reduced to letters and digits. */
const reservedResponseHeaders = new Set([
  'acceptranges',
  'age',
  'allow',
  'cachecontrol',
  'contentlocation',
  'contentrange',
  'etag',
  'expires',
  'lastmodified',
  'location',
  'retryafter',
  'vary',
  'wwwauthenticate',
])
