import t from 'tap'
import { type Balancing, createBalancer } from '#http/upstream/balancer.ts'
import type { Candidate } from '#http/upstream/target.ts'
import { startBackend } from '../../setup/backend.ts'
import { openTestUpstream, request } from '../outgoing/exchange.ts'

interface Named extends Candidate {
  readonly name: string
  inFlight: number
  health: { isEjected: boolean; isDueForTrial(): boolean; beginTrial(): void }
}

/** Targets by name and weight; each can be taken out by hand. */
function targetsOf(weights: Readonly<Record<string, number>>): readonly [Named, ...Named[]] {
  const [first, ...others] = Object.entries(weights).map(([name, weight]) => ({
    name,
    weight,
    origin: `http://${name}.internal:3000`,
    inFlight: 0,
    health: { isEjected: false, isDueForTrial: () => false, beginTrial: () => {} },
  }))
  if (!first) throw new Error('no weights')
  return [first, ...others]
}

function choosing(balancing: Balancing, weights: Readonly<Record<string, number>>) {
  const targets = targetsOf(weights)
  const choose = createBalancer(balancing, targets)
  const byName = (name: string): Named => {
    const target = targets.find((target) => target.name === name)
    if (!target) throw new Error(`no target ${name}`)
    return target
  }
  return {
    targets,
    byName,
    choose: (clientAddress = '', tried: readonly Named[] = []) =>
      choose({ clientAddress, targetIds: [] }, tried)?.name,
  }
}

function turnsOf(weights: Readonly<Record<string, number>>, count: number): string {
  const { choose } = choosing('roundRobin', weights)
  return Array.from({ length: count }, () => choose()).join('')
}

const addresses = Array.from({ length: 8_000 }, (_, index) => `10.1.${index >> 8}.${index & 255}`)

t.test('round robin follows the weights and spreads the turns evenly', async (t) => {
  t.equal(turnsOf({ A: 1 }, 3), 'AAA')
  t.equal(turnsOf({ A: 1, B: 1 }, 6), 'ABABAB')
  t.equal(turnsOf({ A: 1, B: 1, C: 1 }, 6), 'ABCABC')
  t.equal(turnsOf({ A: 2, B: 1 }, 6), 'ABAABA')
  t.equal(turnsOf({ A: 5, B: 1, C: 1 }, 7), 'AABACAA')
})

t.test('a full round gives each target as many turns as its weight', async (t) => {
  const turns = turnsOf({ A: 7, B: 3, C: 100, D: 1 }, 111)
  t.strictSame(
    ['A', 'B', 'C', 'D'].map((name) => turns.split(name).length - 1),
    [7, 3, 100, 1],
  )
})

t.test('an ejected target gets no turn, and the others share by weight', async (t) => {
  const { choose, byName } = choosing('roundRobin', { A: 2, B: 1, C: 1 })
  byName('B').health.isEjected = true
  t.equal(Array.from({ length: 6 }, () => choose()).join(''), 'ACAACA')
  byName('B').health.isEjected = false
  t.equal(Array.from({ length: 8 }, () => choose()).filter((name) => name === 'B').length, 2)
})

t.test('no balancing mode chooses a target that is ejected or was tried', async (t) => {
  for (const balancing of ['roundRobin', 'leastRequests', 'ipHash'] as const) {
    const { choose, byName, targets } = choosing(balancing, { A: 1, B: 1, C: 1 })
    byName('A').health.isEjected = true
    t.equal(choose('', [byName('B')]), 'C', balancing)
    t.equal(choose('', [byName('B'), byName('C')]), undefined, balancing)
    for (const { health } of targets) health.isEjected = true
    t.equal(choose(), undefined, balancing)
  }
  const single = choosing('roundRobin', { A: 1 })
  t.equal(single.choose('', [single.byName('A')]), undefined)
})

t.test('a target on trial is chosen for first attempts, not for retries', async (t) => {
  for (const balancing of ['roundRobin', 'leastRequests', 'ipHash'] as const) {
    const { choose, byName } = choosing(balancing, { A: 1, B: 1 })
    let trials = 0
    byName('A').health = { isEjected: true, isDueForTrial: () => trials === 0, beginTrial: () => trials++ }
    byName('B').health.isEjected = true
    t.equal(choose('', [byName('B')]), undefined, balancing)
    t.equal(trials, 0)
    t.equal(choose(), 'A', balancing)
    t.equal(trials, 1)
    t.equal(choose(), undefined, balancing)
  }
})

t.test('leastRequests takes the target with the fewest requests in flight, by weight', async (t) => {
  const { choose, byName } = choosing('leastRequests', { A: 1, B: 1, C: 2 })
  byName('A').inFlight = 3
  byName('B').inFlight = 2
  byName('C').inFlight = 5
  t.equal(choose(), 'B')
  byName('C').inFlight = 3
  t.equal(choose(), 'C')
  byName('C').health.isEjected = true
  byName('B').inFlight = 4
  t.equal(choose(), 'A')
})

t.test('leastRequests takes turns by weight between equally loaded targets', async (t) => {
  const { choose } = choosing('leastRequests', { A: 2, B: 1 })
  t.equal(Array.from({ length: 6 }, () => choose()).join(''), 'ABAABA')
})

t.test('leastRequests fills targets by their weights', async (t) => {
  const { choose, byName, targets } = choosing('leastRequests', { A: 1, B: 3, C: 6 })
  for (let sent = 0; sent < 100; sent++) byName(choose() ?? '').inFlight++
  t.strictSame(
    targets.map(({ inFlight }) => inFlight),
    [10, 30, 60],
  )
})

t.test('ipHash gives a client the same target each time, in every process', async (t) => {
  const weights = { A: 1, B: 1, C: 1 }
  const [one, other] = [choosing('ipHash', weights), choosing('ipHash', weights)]
  for (const address of [...addresses.slice(0, 50), '::1', '2001:db8::1', '']) {
    const target = one.choose(address)
    t.ok(target)
    t.equal(one.choose(address), target)
    t.equal(other.choose(address), target)
  }
})

t.test('ipHash spreads clients by weight', async (t) => {
  const { choose } = choosing('ipHash', { A: 1, B: 2, C: 5 })
  const counts: Record<string, number> = { A: 0, B: 0, C: 0 }
  for (const address of addresses) counts[choose(address) ?? ''] = (counts[choose(address) ?? ''] ?? 0) + 1
  for (const [name, weight] of [
    ['A', 1],
    ['B', 2],
    ['C', 5],
  ] as const) {
    const share = (counts[name] ?? 0) / addresses.length
    t.ok(Math.abs(share - weight / 8) < 0.02, `${name} has ${share} of the clients`)
  }
})

t.test('ipHash moves only the clients of a target that goes, by weight', async (t) => {
  const { choose, byName } = choosing('ipHash', { A: 1, B: 1, C: 3 })
  const before = new Map(addresses.map((address) => [address, choose(address)]))
  byName('A').health.isEjected = true
  const moved = addresses.filter((address) => choose(address) !== before.get(address))
  t.strictSame(
    moved.map((address) => before.get(address)).filter((name) => name !== 'A'),
    [],
  )
  t.equal(moved.length, [...before.values()].filter((name) => name === 'A').length)
  const toC = moved.filter((address) => choose(address) === 'C').length / moved.length
  t.ok(Math.abs(toC - 0.75) < 0.05, `${toC} of them went to C`)
  byName('A').health.isEjected = false
  t.strictSame(
    addresses.filter((address) => choose(address) !== before.get(address)),
    [],
    'and they come back',
  )
})

t.test('ipHash gives two targets of one name a share each', async (t) => {
  const [A, ...others] = targetsOf({ A: 1, B: 1 })
  const choose = createBalancer('ipHash', [A, ...others.map((target) => ({ ...target, name: A.name }))])
  const toA = addresses.filter((clientAddress) => choose({ clientAddress, targetIds: [] }, []) === A).length
  t.ok(Math.abs(toA / addresses.length - 0.5) < 0.03, `${toA} of ${addresses.length}`)
})

t.test('requests are spread over the targets by their weights', async (t) => {
  for (const balancing of ['roundRobin', 'leastRequests'] as const) {
    const [big, small] = [await startBackend(t), await startBackend(t)]
    const upstream = openTestUpstream(t, [], {
      balancing,
      targets: [
        { url: new URL(big.url), weight: 3 },
        { url: new URL(small.url), weight: 1 },
      ],
    })
    for (let turn = 0; turn < 40; turn++) await request(upstream)
    t.strictSame([big.seen.length, small.seen.length], [30, 10], balancing)
  }
})

t.test('an upstream without targets cannot be opened', async (t) => {
  t.throws(() => openTestUpstream(t, []), /no target/)
})
