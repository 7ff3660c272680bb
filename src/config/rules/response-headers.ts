import { identityNames } from '#gateway/forward/header-rules.ts'
import { foldHeaderName } from '#platform/text.ts'
import type { Path } from '../problem.ts'
import type { Review } from '../review.ts'
import { identityHeaderNames } from './identity.ts'
import { valueProblem } from './upstreams.ts'

type RouteTree = Review['tree']['routes'][number]

const hopByHop = 'is about one connection, and written by the gateway'
const framing = 'frames the response, and is written by the gateway'
const handshake = 'belongs to the handshake between client and backend'

/** Why the gateway alone decides about a field of responses, by its folded name. */
const reserved: ReadonlyMap<string, string> = new Map(
  Object.entries({
    connection: hopByHop,
    keepalive: hopByHop,
    proxyauthenticate: hopByHop,
    proxyconnection: hopByHop,
    te: hopByHop,
    upgrade: hopByHop,
    contentlength: framing,
    transferencoding: framing,
    trailer: framing,
    date: 'is written by the gateway where the backend sends none',
    xrequestid: 'connects the response with the log, and is written by the gateway',
    secwebsocketaccept: handshake,
    secwebsocketprotocol: handshake,
    secwebsocketextensions: handshake,
    secwebsocketversion: handshake,
  }),
)

/** Of all that are set: clients take no larger head. */
const linesLengthMax = 16_384

/** Checks that response headers are the operator's to set or remove, and that their values can be sent. */
export function reviewResponseHeaders(review: Review, index: number, { responseHeaders }: RouteTree): void {
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
  reviewValues(review, set, path)
}

function nameProblem(review: Review, name: string, isSet: boolean): string | undefined {
  const folded = foldHeaderName(name)
  if (folded.startsWith('accesscontrol') && review.isValid(['cors']) && review.tree.cors.origins.length > 0)
    return 'is decided by cors.origins'
  if (isSet && folded === 'setcookie')
    return 'would replace the cookies of the backend: let the backend set it'
  if (isSet && isIdentity(review, folded)) return 'says who is calling: clients need not know'
  return reserved.get(folded)
}

/** A proxy in front may copy it to the requests that it forwards. */
function isIdentity(review: Review, folded: string): boolean {
  const configured = identityHeaderNames(review)
    .filter(([path]) => review.isValid(path))
    .map(([, name]) => name)
  return [...identityNames, ...configured].some((name) => foldHeaderName(name) === folded)
}

function reviewValues(review: Review, set: RouteTree['responseHeaders']['set'], path: Path): void {
  let length = 0
  for (const [name, value] of Object.entries(set)) {
    const at = [...path, 'set', name]
    if (!review.isValid(at)) continue
    const problem = valueProblem(value)
    if (problem !== undefined) review.report(at, problem)
    else length += name.length + value.length
  }
  if (length > linesLengthMax)
    review.report(
      [...path, 'set'],
      `names and values together must have at most ${linesLengthMax} characters`,
    )
}
