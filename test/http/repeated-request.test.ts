import t from 'tap'
import type { RepeatedFields, RequestHead } from '../../src/exchange/request-head.ts'
import { createArrival } from '../../src/http/arrival.ts'
import { chooseScope, type ScopeOptions } from '../../src/http/choose-scope.ts'
import { findRoute } from '../../src/http/route-request.ts'
import { createAddressSet } from '../../src/platform/address-ranges.ts'
import { createOwnPaths } from '../../src/routes/own-paths.ts'
import { tableOf } from '../routes/examples.ts'
import { usualFieldReader } from '../setup/carriers.ts'

/** A request whose fields were found in the head cache. */
function headOf(target: string, repeated: RepeatedFields): RequestHead {
  return {
    method: 'GET',
    target,
    minorVersion: 1,
    rawHeaders: ['Host', 'gateway.test', 'X-Forwarded-For', '203.0.113.7'],
    body: { kind: 'none', isEmpty: false },
    isPersistent: true,
    expectsContinue: false,
    upgrade: undefined,
    repeated,
  }
}

const peer = { peerAddress: '127.0.0.1', protocol: 'http' } as const
const nobody = createAddressSet([])
const scopeOf = (path: string): ScopeOptions => ({
  cors: undefined,
  ownPaths: createOwnPaths({ enabled: true, path }),
})
const [options, otherOptions] = [scopeOf('/portal'), scopeOf('/shop')]
const table = tableOf([{ name: 'one', path: '/' }])
const otherTable = tableOf([{ name: 'other', path: '/' }])

/** Handles a request up to its route. */
function handle(
  head: RequestHead,
  terms: { trusted?: typeof nobody; options?: ScopeOptions; table?: typeof table } = {},
) {
  const arrival = createArrival(peer, head, {
    trusted: terms.trusted ?? nobody,
    fieldReader: usualFieldReader,
  })
  const scope = chooseScope(arrival, terms.options ?? options)
  const route = scope === 'routes' ? findRoute(terms.table ?? table, arrival) : undefined
  const { destination } = arrival.outcome
  return { scope, route, destination, address: arrival.client.address }
}

t.test('what was derived is used again from the third request for a target on', async (t) => {
  const repeated = { derived: undefined }
  const [first, second, third] = [1, 2, 3].map(() => handle(headOf('/shop', repeated)))
  t.not(second?.destination, first?.destination)
  t.match(third, { scope: 'routes', route: { name: 'one' }, address: '127.0.0.1' })
  t.equal(handle(headOf('/shop', repeated)).destination, third?.destination)
  const other = handle(headOf('/shop?q', repeated))
  t.match(other.destination, { target: { path: '/shop', query: '?q' } })
  t.equal(handle(headOf('/shop', repeated)).destination, third?.destination)
})

t.test('it is not used with another portal, other routes, or other trusted proxies', async (t) => {
  const repeated = { derived: undefined }
  const head = headOf('/shop', repeated)
  for (let times = 0; times < 4; times++) t.equal(handle(head).scope, 'routes')
  t.equal(handle(head, { options: otherOptions }).scope, 'own')
  t.match(handle(head, { table: otherTable }).route, { name: 'other' })
  const trusted = createAddressSet([{ address: '127.0.0.1', bits: 32, family: 'ipv4' }])
  t.equal(handle(head, { trusted }).address, '203.0.113.7')
  t.match(handle(head), { scope: 'routes', route: { name: 'one' }, address: '127.0.0.1' })
})

t.test('targets that take turns are read each time', async (t) => {
  const repeated = { derived: undefined }
  for (let round = 0; round < 3; round++) {
    for (const target of ['/a', '/b']) {
      const { destination } = handle(headOf(target, repeated))
      t.equal(destination?.target.path, target)
    }
  }
  t.equal(usualFieldReader.read(headOf('/a', repeated)).repeated?.destination, undefined)
})

t.test('targets of 256 characters are kept, longer ones are not', async (t) => {
  for (const [length, isKept] of [
    [256, true],
    [257, false],
    [5_000, false],
  ] as const) {
    const repeated = { derived: undefined }
    const head = headOf(`/${'a'.repeat(length - 1)}`, repeated)
    for (let times = 0; times < 3; times++) handle(head)
    const { destination, lastTarget } = usualFieldReader.read(head).repeated ?? {}
    t.equal(destination !== undefined, isKept, `${length}`)
    t.equal(lastTarget !== '', isKept)
  }
})
