import t from 'tap'
import type { Arrival, HttpVersion } from '#gateway/arrival/arrival.ts'
import { createOutcome, recordDestination, recordStatus } from '#gateway/arrival/outcome.ts'
import type { Destination } from '#gateway/routes/table.ts'
import { createAccessLineWriter } from '#gateway/server/access-line.ts'

/** What a line is made of: all of it differs from one request to the next, or nothing. */
interface Seen {
  readonly path: string
  readonly isKept: boolean
  readonly client: string
  readonly httpVersion: HttpVersion
  readonly route: string
  readonly status: number
  readonly scheme: 'bearer' | 'secretKey' | undefined
  readonly accountId: string | undefined
  readonly upstream: string | undefined
  readonly reason: string | undefined
  readonly isComplete: boolean
}

const usual: Seen = {
  path: '/a',
  isKept: true,
  client: '192.0.2.1',
  httpVersion: '1.1',
  route: 'any',
  status: 200,
  scheme: 'bearer',
  accountId: 'one',
  upstream: 'backend',
  reason: undefined,
  isComplete: true,
}

/** Each differs from the usual one in one thing. */
const others: readonly Seen[] = [
  { ...usual, path: '/"b"' },
  { ...usual, isKept: false },
  { ...usual, path: '/c', isKept: false },
  { ...usual, client: '2001:db8::1' },
  { ...usual, httpVersion: '2' },
  { ...usual, route: 'other' },
  { ...usual, status: 503 },
  { ...usual, scheme: 'secretKey' },
  { ...usual, scheme: undefined },
  { ...usual, accountId: 'two' },
  { ...usual, accountId: 'https://issuer.test:Łukasz "Ł"\ud800' },
  { ...usual, accountId: 'x'.repeat(200) },
  { ...usual, accountId: undefined },
  { ...usual, upstream: 'other' },
  { ...usual, upstream: undefined },
  { ...usual, reason: 'a "reason"' },
  { ...usual, isComplete: false },
]

function destinationAt(path: string): Destination {
  const target = {
    path,
    sentPath: path,
    query: '',
    hasParameters: false,
    hasEncodedSlash: false,
    hasEmptySegment: false,
  }
  return { target, hostName: 'x' }
}

const decisions = new Map<string, object>()

/** A decision is the same object as long as it is reused. */
function decisionOf({ scheme, accountId, isKept }: Seen): object {
  const principal = accountId === undefined ? undefined : { accountId: fresh(accountId) }
  const decision = { kind: 'allowed', scheme, principal }
  const known = decisions.get(`${scheme} ${accountId}`)
  if (isKept && known) return known
  decisions.set(`${scheme} ${accountId}`, decision)
  return decision
}

/** The texts are new ones, as are those of a request's head. */
const fresh = (text: string) => Buffer.from(text, 'utf16le').toString('utf16le')

function arrivalOf(seen: Seen): Arrival {
  const { upstream, reason, route } = seen
  const outcome = createOutcome()
  recordDestination(outcome, destinationAt(seen.path))
  recordStatus(outcome, seen.status)
  Object.assign(outcome, {
    upstream,
    reason,
    route: fresh(route),
    decision: decisionOf(seen),
  })
  // Only what is read of it.
  return {
    exchange: { isHttp2: seen.httpVersion === '2' },
    head: { method: fresh('GET') },
    requestId: 'request-1',
    arrivedAt: 0,
    client: { address: fresh(seen.client), isTrusted: false },
    outcome,
  } as unknown as Arrival
}

function expected({ path, client, httpVersion, route, status, isComplete, ...caller }: Seen) {
  const { scheme, accountId, upstream, reason } = caller
  const request = { requestId: 'request-1', client, path, method: 'GET', httpVersion, route, status }
  const members = { ...request, durationMs: 12.346, scheme, accountId, upstream, reason, isComplete }
  return Object.entries(members).filter(([, value]) => value !== undefined)
}

t.test('a line says what its own request was, whatever those before it were', async (t) => {
  const write = createAccessLineWriter(undefined)
  const read = (seen: Seen) =>
    Object.entries(JSON.parse(`{${write(arrivalOf(seen), 12.3456, seen.isComplete).slice(0, -1)}}`))
  // Joined texts are used from the third on.
  for (const other of others)
    for (const times of [1, 2, 3, 4])
      for (const seen of [...Array<Seen>(times).fill(usual), ...Array<Seen>(times).fill(other), usual])
        t.strictSame(read(seen), expected(seen))
})

t.test('a request ID that a trusted client has sent is written by JSON', async (t) => {
  const write = createAccessLineWriter('decide')
  const arrival = arrivalOf(usual)
  const sent = { ...arrival, requestId: 'a"b\\c', client: { ...arrival.client, isTrusted: true } }
  const line = JSON.parse(`{${write(sent, 1, true).slice(0, -1)}}`)
  t.match(line, { listener: 'decide', requestId: 'a"b\\c' })
})
