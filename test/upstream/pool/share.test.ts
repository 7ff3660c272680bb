import t from 'tap'
import type { BodyProgress, ConnectionUser } from '../../../src/upstream/pool/claim.ts'
import { Share } from '../../../src/upstream/pool/share.ts'

function user(
  clientNetwork: string,
  accountId?: string,
  bodyProgress: BodyProgress = 'complete',
): ConnectionUser {
  return { clientNetwork, accountId, bodyProgress }
}

/** Takes connections, in turns, until nobody gets any more. @returns how many each has */
function fill(connectionsMax: number, takers: readonly ConnectionUser[]): readonly number[] {
  const users: ConnectionUser[] = []
  const share = new Share(connectionsMax, () => users)
  for (let before = -1; before !== users.length; ) {
    before = users.length
    for (const taker of takers) {
      const claim = share.claimOf(taker)
      if (!share.mayTake(claim, taker.bodyProgress)) continue
      share.take(claim)
      users.push(taker)
    }
  }
  return takers.map((taker) => users.filter((each) => each === taker).length)
}

t.test('a single client network cannot use all upstream connections', async (t) => {
  t.strictSame(fill(128, [user('a')]), [114])
  t.strictSame(fill(1_000, [user('a')]), [889])
})

t.test('a single account cannot use all upstream connections, from any number of networks', async (t) => {
  const takers = Array.from({ length: 50 }, (_, index) => user(`network ${index}`, 'ada'))
  t.equal(
    fill(128, takers).reduce((sum, count) => sum + count),
    114,
  )
})

t.test('many client networks share the upstream connections evenly', async (t) => {
  t.strictSame(fill(128, [user('a'), user('b')]), [61, 60])
  const [least = 0, ...others] = fill(
    128,
    Array.from({ length: 10 }, (_, index) => user(`${index}`)),
  ).toSorted((one, other) => one - other)
  t.ok(least > 10 && others.every((count) => count <= least + 1))
})

t.test('an upstream of a few connections reserves none', async (t) => {
  for (const connectionsMax of [1, 2, 8]) t.strictSame(fill(connectionsMax, [user('a')]), [connectionsMax])
})

t.test('unfinished uploads use at most three quarters of the connections', async (t) => {
  for (const progress of ['pending', 'streaming'] as const) {
    t.strictSame(fill(128, [user('a', undefined, progress)]), [96])
    t.strictSame(fill(4, [user('a', undefined, progress)]), [3])
    t.strictSame(fill(1, [user('a', undefined, progress)]), [1])
  }
  const many = Array.from({ length: 50 }, (_, index) => user(`network ${index}`, undefined, 'streaming'))
  t.equal(
    fill(128, many).reduce((sum, count) => sum + count),
    96,
  )
})
