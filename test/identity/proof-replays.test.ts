import t from 'tap'
import { createProofReplays } from '#identity/proof-replays.ts'
import type { RateResult } from '#store/rates.ts'

const lifetimeMs = 70_000

t.test('a proof counts once, whatever else it is used beside', async (t) => {
  const replays = createProofReplays({ take: undefined })
  t.equal(replays.use('one', 1_000_000, lifetimeMs), true)
  t.equal(replays.use('two', 1_000_000, lifetimeMs), true)
  t.equal(replays.use('one', 1_000_400, lifetimeMs), false, 'within the same second')
  t.equal(replays.use('two', 1_000_000, lifetimeMs), false)
})

t.test('a proof is remembered for as long as it can be valid, and not much longer', async (t) => {
  const replays = createProofReplays({ take: undefined, entriesMax: 1_000 })
  replays.use('old', 0, lifetimeMs)
  replays.use('later', lifetimeMs, lifetimeMs)
  t.equal(replays.use('old', 0, lifetimeMs), false, 'at the end of its life')
  t.equal(replays.use('fresh', 0, lifetimeMs), true, 'nothing was forgotten')
  replays.use('much later', 2 * lifetimeMs, lifetimeMs)
  t.equal(replays.use('another', 0, lifetimeMs), false, 'its second was forgotten')
})

t.test('under a flood proofs have to be fresher, and none counts twice', async (t) => {
  const replays = createProofReplays({ take: undefined, entriesMax: 10 })
  for (let index = 0; index < 5; index++) t.equal(replays.use(`first ${index}`, 0, lifetimeMs), true)
  for (let index = 0; index < 5; index++) t.equal(replays.use(`second ${index}`, 1_000, lifetimeMs), true)
  t.equal(replays.use('third', 2_000, lifetimeMs), true, 'one more than there is room for')
  t.equal(replays.use('first 0', 0, lifetimeMs), false)
  t.equal(replays.use('late', 0, lifetimeMs), false, 'nobody knows whether it was used')
  t.equal(replays.use('second 0', 1_000, lifetimeMs), false)
  t.equal(replays.use('another', 1_000, lifetimeMs), true)
  for (let index = 0; index < 100; index++) replays.use(`flood ${index}`, 3_000, lifetimeMs)
  t.equal(replays.use('flood 99', 3_000, lifetimeMs), false)
  t.equal(replays.use('fresh', 4_000, lifetimeMs), true)
})

t.test('proofs from the future crowd out no others', async (t) => {
  let now = 1_000_000
  const replays = createProofReplays({ take: undefined, entriesMax: 100, clock: () => now })
  const flood = (name: string, at: number) =>
    Array.from({ length: 1_000 }, (_, index) => replays.use(`${name} ${index}`, at, lifetimeMs)).filter(
      Boolean,
    )
  t.equal(replays.use('before', now, lifetimeMs), true)
  t.equal(flood('ahead', now + 59_000).length, 25, 'they have a quarter of the room')
  t.equal(replays.use('also ahead', now + 1_000, lifetimeMs), false)
  for (let second = 0; second < 120; second++) {
    t.equal(replays.use(`fresh ${second}`, now, lifetimeMs), true)
    t.equal(replays.use(`fresh ${second}`, now, lifetimeMs), false)
    flood(`at ${second}`, now + 59_000)
    t.equal(replays.use(`fresh too ${second}`, now, lifetimeMs), true)
    now += 1_000
  }
  t.equal(replays.use('ahead 0', 1_059_000, lifetimeMs), false, 'and none of theirs counts twice')
})

t.test('other processes are asked, but not about what is known here', async (t) => {
  const asked: string[] = []
  const answer = (isAllowed: boolean): RateResult => ({ isAllowed, remaining: 0, retryMs: 0, resetMs: 0 })
  const replays = createProofReplays({
    take: async (purpose, subject, { limit, perMs }) => {
      asked.push(`${purpose} ${subject} ${limit} ${perMs}`)
      return answer(subject === 'here')
    },
  })
  t.equal(await replays.use('here', 0, lifetimeMs), true)
  t.equal(await replays.use('here', 0, lifetimeMs), false)
  t.equal(await replays.use('there', 0, lifetimeMs), false, 'used elsewhere')
  t.strictSame(asked, ['proof here 1 70000', 'proof there 1 70000'])
})
