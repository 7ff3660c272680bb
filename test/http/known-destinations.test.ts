import t from 'tap'
import type { RepeatedLine, RequestHead } from '../../src/exchange/request-head.ts'
import { createArrival } from '../../src/http/arrival.ts'
import { chooseScope, type ScopeOptions } from '../../src/http/choose-scope.ts'
import { KnownDestinations } from '../../src/http/known-destinations.ts'
import { type Destination, recordDestination } from '../../src/http/outcome.ts'
import { findRoute } from '../../src/http/route-request.ts'
import { KnownLine } from '../../src/http1/line-cache.ts'
import { createAddressSet } from '../../src/platform/address-ranges.ts'
import { createOwnPaths } from '../../src/routes/own-paths.ts'
import { tableOf } from '../routes/examples.ts'
import { usualFieldReader } from '../setup/carriers.ts'

interface Sent {
  readonly method?: string
  readonly target?: string
  readonly host?: string
  readonly more?: readonly string[]
  readonly line?: RepeatedLine
}

function headOf({
  method = 'GET',
  target = '/shop',
  host = 'gateway.test',
  more = [],
  line,
}: Sent): RequestHead {
  return {
    method,
    target,
    minorVersion: 1,
    rawHeaders: ['Host', host, ...more],
    body: { kind: 'none', isEmpty: false },
    isPersistent: true,
    expectsContinue: false,
    upgrade: undefined,
    repeated: undefined,
    repeatedLine: line,
  }
}

const peer = { peerAddress: '127.0.0.1', protocol: 'http' } as const
const reader = { trusted: createAddressSet([]), fieldReader: usualFieldReader }
const tables = [
  tableOf([
    { name: 'one', path: '/' },
    { name: 'put', path: '/shop', methods: ['PUT'] },
    { name: 'get', path: '/shop', methods: ['GET'] },
    { name: 'host', path: '/shop', host: 'other.test' },
  ]),
  tableOf([{ name: 'other', path: '/' }]),
] as const

function start() {
  const options: ScopeOptions = {
    cors: undefined,
    ownPaths: createOwnPaths({ enabled: true, path: '/portal' }),
    known: new KnownDestinations(),
  }
  /** Handles a request up to its route. */
  return (sent: Sent, table: (typeof tables)[number] = tables[0]) => {
    const arrival = createArrival(peer, headOf(sent), reader)
    const scope = chooseScope(arrival, options)
    const found = scope === 'routes' ? findRoute(table, arrival) : undefined
    return {
      scope,
      route: found && 'access' in found ? found.name : undefined,
      destination: arrival.outcome.destination,
    }
  }
}

/** Whether a request that came three times is known. */
function isKept(sent: Sent): boolean {
  const handle = start()
  handle(sent)
  handle(sent)
  const { destination } = handle(sent)
  return handle(sent).destination === destination
}

t.test('a destination is read once for requests that repeat', async (t) => {
  const handle = start()
  const [first, second, third, fourth] = [1, 2, 3, 4].map(() => handle({}))
  t.not(second?.destination, first?.destination)
  t.equal(fourth?.destination, third?.destination)
  for (const { scope, route } of [first, second, third, fourth].flatMap((one) => one ?? []))
    t.strictSame({ scope, route }, { scope: 'routes', route: 'get' })
})

t.test('another method, target, host or table has its own route', async (t) => {
  const handle = start()
  for (let round = 0; round < 5; round++) {
    t.equal(handle({}).route, 'get')
    t.equal(handle({ method: 'PUT' }).route, 'put')
    t.equal(handle({ method: 'DELETE' }).route, undefined)
    t.equal(handle({ host: 'other.test' }).route, 'host')
    t.equal(handle({ host: 'other.test:80' }).route, 'host')
    t.equal(handle({ target: '/shoq' }).route, 'one')
    t.equal(handle({ target: '/portal' }).scope, 'own')
    t.equal(handle({}, tables[1]).route, 'other')
  }
})

t.test(
  'a line that repeats leads to its destination, for the same host and under the same config',
  async (t) => {
    const handle = start()
    const line = new KnownLine({ method: 'GET', target: '/shop', minorVersion: 1, end: 0 })
    for (let round = 0; round < 3; round++) {
      t.equal(handle({ line }).route, 'get')
      t.equal(handle({ line, host: 'other.test' }).route, 'host')
      t.equal(handle({ line }, tables[1]).route, 'other')
    }
    const { destination } = handle({ line })
    t.equal(line.destination, destination)
    t.equal(handle({}).destination, destination, 'with another line, too')
    const afterReload = start()
    t.not(afterReload({ line }).destination, destination)
    t.throws(() => afterReload({ line, more: ['Service-Worker', 'script'] }), {
      code: 'service-worker-refused',
    })
  },
)

t.test('the route of a line is not that of a head with another method or destination', async (t) => {
  const handle = start()
  const line = new KnownLine({ method: 'GET', target: '/shop', minorVersion: 1, end: 0 })
  for (let round = 0; round < 3; round++) handle({ line })
  t.equal(line.routeTable, tables[0])
  const arrival = createArrival(peer, headOf({ line }), reader)
  const known = new KnownDestinations()
  const ownPaths = createOwnPaths({ enabled: true, path: '/portal' })
  chooseScope(arrival, { cors: undefined, ownPaths, known })
  t.match(findRoute(tables[0], arrival), { name: 'get' }, 'of other destinations than that of the line')
  recordDestination(arrival.outcome, line.destination as Destination)
  t.match(findRoute(tables[0], arrival), { name: 'get' })
  // As an upgrade over HTTP/2 is refused.
  const changed = { ...arrival, head: { ...arrival.head, method: 'PUT' } }
  t.match(findRoute(tables[0], changed), { name: 'put' })
  t.match(findRoute(tables[1], arrival), { name: 'other' })
  t.match(findRoute(tables[0], arrival), { name: 'get' })
})

t.test('what depends on more than the destination is decided each time', async (t) => {
  const handle = start()
  for (let times = 0; times < 4; times++) t.equal(handle({}).scope, 'routes')
  t.throws(() => handle({ more: ['Service-Worker', 'script'] }), { code: 'service-worker-refused' })
  t.throws(() => handle({ more: ['Host', 'gateway.test'] }), { code: 'request-invalid' })
  const rest = headOf({}).rawHeaders.slice(2)
  t.throws(() => chooseScope(createArrival(peer, { ...headOf({}), rawHeaders: rest }, reader), options()), {
    code: 'request-invalid',
  })
  function options(): ScopeOptions {
    const known = new KnownDestinations()
    return { cors: undefined, ownPaths: createOwnPaths({ enabled: true, path: '/portal' }), known }
  }
})

t.test('targets of 256 characters are kept, longer ones and those with a query are not', async (t) => {
  for (const [length, isExpected] of [
    [1, true],
    [256, true],
    [257, false],
    [5_000, false],
  ] as const)
    t.equal(isKept({ target: `/${'a'.repeat(length - 1)}` }), isExpected, `${length}`)
  t.notOk(isKept({ target: '/a?b' }))
  t.notOk(isKept({ method: 'A'.repeat(257) }))
})

/** How many of these targets are kept once each was requested often. */
function countKept(targets: readonly string[], rounds = 25): number {
  const handle = start()
  for (let round = 0; round < rounds; round++)
    for (const target of targets)
      if (handle({ target }).destination?.target.path !== target) throw new Error(`${target} is misread`)
  const last = targets.map((target) => handle({ target }).destination)
  return targets.filter((target, index) => handle({ target }).destination === last[index]).length
}

t.test('thousands of destinations are kept, those that find no place displace each other', async (t) => {
  const targets = (count: number) => Array.from({ length: count }, (_, index) => `/services/s${index}/items`)
  const ofAll = countKept(targets(3_000))
  t.ok(ofAll > 2_800, `${ofAll} of 3,000`)
  const ofMany = countKept(targets(20_000), 10)
  t.ok(ofMany > 0 && ofMany <= 8_192, `${ofMany} of 20,000`)
})

t.test('the texts of all destinations have a bound', async (t) => {
  const long = Array.from({ length: 8_000 }, (_, index) => `/${String(index).padStart(255, 'a')}`)
  const ofMany = countKept(long, 10)
  t.ok(ofMany <= 1_048_576 / 256, `${ofMany} of 8,000`)
  const ofFew = countKept(long.slice(0, 2_000))
  t.ok(ofFew > 1_900, `below it they are kept: ${ofFew} of 2,000`)
})
