import t from 'tap'
import type { BodyProgress } from '#http/client-exchange.ts'
import type { ConnectionUser, Use } from '#http/upstream/pool/parties.ts'
import { Share } from '#http/upstream/pool/share.ts'
import { createRandom, type Random } from '../../outgoing/random.ts'

function user(
  clientNetwork: string,
  accountId?: string,
  bodyProgress: BodyProgress = 'whole',
  clientSession?: object,
): ConnectionUser {
  return { clientNetwork, accountId, bodyProgress, clientSession }
}

/** Takes a connection, as a pool does. @returns undefined where it has to wait */
function take(share: Share, taker: ConnectionUser): Use | undefined {
  const claim = share.isPlenty ? undefined : share.claimOf(taker)
  if (claim && !share.mayTake(claim, taker.bodyProgress)) return undefined
  share.take(claim)
  return { user: taker, claim }
}

/** Takes connections, in turns, until nobody gets any more. @returns how many each has */
function fill(connectionsMax: number, takers: readonly ConnectionUser[]): readonly number[] {
  const uses: Use[] = []
  const share = new Share(connectionsMax, uses)
  for (let before = -1; before !== uses.length; ) {
    before = uses.length
    for (const taker of takers) uses.push(...[take(share, taker) ?? []].flat())
  }
  return takers.map((taker) => uses.filter(({ user }) => user === taker).length)
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

t.test('a single connection of HTTP/2 cannot use the share of its whole network', async (t) => {
  const [one, other] = [user('a', 'ada', 'whole', {}), user('a', 'ada', 'whole', {})]
  t.strictSame(fill(128, [one]), [103])
  const [ofSession = 0, ofOthers = 0] = fill(128, [one, user('a', 'ada')])
  t.strictSame([ofSession + ofOthers, ofSession <= ofOthers], [114, true])
  const two = fill(128, [one, other])
  t.ok(Math.abs((two[0] ?? 0) - (two[1] ?? 0)) <= 1)
  t.strictSame(fill(4, [one]), [4], 'of a few none are reserved')
})

t.test('it is named which share is exhausted', async (t) => {
  const session = {}
  for (const [takers, next, share] of [
    [[user('a', 'ada', 'whole', session)], user('a', 'ada', 'whole', session), ['session', 103]],
    [[user('a', 'ada')], user('b', 'ada'), ['account', 114]],
    [[user('a', 'ada')], user('a', 'bob'), ['network', 114]],
    [[user('a', undefined, 'flowing')], user('b', undefined, 'flowing'), ['bodies', 96]],
    [Array.from({ length: 200 }, (_, index) => user(`${index}`)), user('new'), ['pool', 128]],
  ] as const) {
    const uses: Use[] = []
    const counted = new Share(128, uses)
    for (const taker of takers)
      for (let use = take(counted, taker); use !== undefined && uses.push(use); use = take(counted, taker));
    const claim = counted.claimOf(next)
    t.equal(counted.mayTake(claim, next.bodyProgress), false)
    const missing = counted.missingOf(claim)
    t.strictSame([missing.share, missing.inUse], share)
  }
})

t.test('an upstream of a few connections reserves none', async (t) => {
  for (const connectionsMax of [1, 2, 8]) t.strictSame(fill(connectionsMax, [user('a')]), [connectionsMax])
})

t.test('unfinished uploads use at most three quarters of the connections', async (t) => {
  for (const progress of ['held', 'flowing'] as const) {
    t.strictSame(fill(128, [user('a', undefined, progress)]), [96])
    t.strictSame(fill(4, [user('a', undefined, progress)]), [3])
    t.strictSame(fill(1, [user('a', undefined, progress)]), [1])
  }
  const many = Array.from({ length: 50 }, (_, index) => user(`network ${index}`, undefined, 'flowing'))
  t.equal(
    fill(128, many).reduce((sum, count) => sum + count),
    96,
  )
})

const networks = ['a', 'b', 'c']
const accounts = ['ada', 'bob', '']
const progresses = ['whole', 'whole', 'flowing', 'held'] as const

/** Whether it may take one, from a look at all that are in use. */
function mayTakeByLook(connectionsMax: number, uses: readonly Use[], taker: ConnectionUser): boolean {
  const users = uses.flatMap(({ user }) => user ?? [])
  const most = 8 * (connectionsMax - users.length)
  const receiving = users.filter(({ bodyProgress }) => bodyProgress !== 'whole')
  const ofAccount = users.filter(({ accountId }) => accountId === taker.accountId)
  return (
    users.filter(({ clientNetwork }) => clientNetwork === taker.clientNetwork).length < most &&
    (taker.accountId === undefined || ofAccount.length < most) &&
    (taker.bodyProgress === 'whole' || receiving.length < connectionsMax - Math.floor(connectionsMax / 4))
  )
}

/** Takes and releases at random, up and down again, so that counting begins and ends many times. */
function takeAtRandom(
  connectionsMax: number,
  random: Random,
): { wrong: number; counted: number; refused: number } {
  const uses: Use[] = []
  const share = new Share(connectionsMax, uses)
  const found = { wrong: 0, counted: 0, refused: 0 }
  function takeOne(): void {
    const taker = user(random.pick(networks), random.pick(accounts) || undefined, random.pick(progresses))
    const expected = mayTakeByLook(connectionsMax, uses, taker)
    const use = take(share, taker)
    if (expected !== (use !== undefined)) found.wrong++
    if (!use) found.refused++
    else uses.push(use)
    if (use?.claim) found.counted++
  }
  function releaseOne(): void {
    const [released] = uses.splice(random.below(uses.length), 1)
    share.release(released?.claim)
    share.onNobodyWaits()
  }
  for (let step = 0; step < 4_000; step++) {
    const isFilling = Math.floor(step / 250) % 2 === 0
    if (random.below(3) > (isFilling ? 0 : 1)) takeOne()
    else if (uses.length > 0) releaseOne()
  }
  return found
}

t.test('shares are the same whether all were counted from the start, or only once it matters', async (t) => {
  const random = createRandom(20)
  for (const connectionsMax of [1, 2, 3, 9, 20, 64]) {
    const { wrong, refused, counted } = takeAtRandom(connectionsMax, random)
    t.equal(wrong, 0, `${connectionsMax}`)
    t.ok(refused > 100, `${refused} refused`)
    t.ok(connectionsMax < 9 || (counted > 100 && counted < 1_500), `${counted} counted`)
  }
})

t.test('counting ends once half as many are in use as when it began', async (t) => {
  const uses: Use[] = []
  const share = new Share(128, uses)
  for (let taken = 0; taken < 96; taken++) uses.push(...[take(share, user('a')) ?? []].flat())
  t.equal(share.isPlenty, false)
  t.ok(uses.every(({ claim }) => claim === undefined))
  t.equal(share.claimOf(user('a')).network.inUse, 96)
  const releaseTo = (left: number) => {
    for (const { claim } of uses.splice(left)) {
      share.release(claim)
      share.onNobodyWaits()
    }
  }
  releaseTo(49)
  t.equal(share.isPlenty, false)
  t.ok(uses.every(({ claim }) => claim !== undefined))
  releaseTo(48)
  t.equal(share.isPlenty, true)
  t.ok(uses.every(({ claim }) => claim === undefined))
  t.equal(share.claimOf(user('a')).network.inUse, 48, 'counted anew')
})
