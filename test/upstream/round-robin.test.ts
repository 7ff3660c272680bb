import t from 'tap'
import { createRoundRobin } from '../../src/upstream/round-robin.ts'
import { startBackend } from '../setup/backend.ts'
import { openTestUpstream, request } from './exchange.ts'

function turnsOf(weights: Readonly<Record<string, number>>, count: number): string {
  const [first, ...others] = Object.entries(weights).map(([name, weight]) => ({ name, weight }))
  if (!first) throw new Error('no weights')
  const next = createRoundRobin([first, ...others])
  return Array.from({ length: count }, () => next().name).join('')
}

t.test('turns are taken by weight and spread evenly', async (t) => {
  t.equal(turnsOf({ A: 1 }, 3), 'AAA')
  t.equal(turnsOf({ A: 1, B: 1 }, 6), 'ABABAB')
  t.equal(turnsOf({ A: 1, B: 1, C: 1 }, 6), 'ABCABC')
  t.equal(turnsOf({ A: 2, B: 1 }, 6), 'ABAABA')
  t.equal(turnsOf({ A: 5, B: 1, C: 1 }, 7), 'AABACAA')
})

t.test('after a full round each had as many turns as its weight', async (t) => {
  const turns = turnsOf({ A: 7, B: 3, C: 100, D: 1 }, 111)
  t.strictSame(
    ['A', 'B', 'C', 'D'].map((name) => turns.split(name).length - 1),
    [7, 3, 100, 1],
  )
})

t.test('requests are spread over the targets by their weights', async (t) => {
  const [big, small] = [await startBackend(t), await startBackend(t)]
  const upstream = openTestUpstream(t, [], {
    targets: [
      { url: new URL(big.url), weight: 3 },
      { url: new URL(small.url), weight: 1 },
    ],
  })
  for (let turn = 0; turn < 40; turn++) await request(upstream)
  t.strictSame([big.seen.length, small.seen.length], [30, 10])
})

t.test('an upstream without targets cannot be opened', async (t) => {
  t.throws(() => openTestUpstream(t, []), /no target/)
})
