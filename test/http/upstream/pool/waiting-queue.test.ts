import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { BodyProgress } from '#http/client-exchange.ts'
import {
  type Claim,
  type ConnectionUser,
  Parties,
  type Waiting as QueueLinks,
} from '#http/upstream/pool/parties.ts'
import { Share } from '#http/upstream/pool/share.ts'
import { WaitingQueue } from '#http/upstream/pool/waiting-queue.ts'

interface Waiting extends QueueLinks {
  readonly name: string
}

interface User {
  readonly network: number
  readonly account: number | undefined
  readonly bodyProgress: BodyProgress
}

function waiting(share: Share, name: string, { network, account, bodyProgress }: User): Waiting {
  const accountId = account === undefined ? undefined : `account ${account}`
  const user: ConnectionUser = {
    clientNetwork: `network ${network}`,
    accountId,
    bodyProgress,
    clientSession: undefined,
  }
  return { name, user, claim: share.claimOf(user), number: undefined, before: undefined, after: undefined }
}

const progress = fc.constantFrom<BodyProgress>('whole', 'whole', 'flowing', 'held')
const arrival = fc.record({
  network: fc.nat(2),
  account: fc.option(fc.nat(2), { nil: undefined }),
  bodyProgress: progress,
})
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('arrive' as const), user: arrival }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('free' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(20) }) },
)

/** Serves those that wait as a pool does. @returns their names */
function serve(share: Share, queue: WaitingQueue<Waiting>, held: Waiting[]): readonly string[] {
  const served: string[] = []
  for (let item = queue.next(share); item !== undefined; item = queue.next(share)) {
    queue.remove(item)
    share.take(item.claim)
    held.push(item)
    served.push(item.name)
  }
  return served
}

/** The same from a plain list, each of which is looked at. */
function serveModel(share: Share, list: Waiting[], held: Waiting[]): readonly string[] {
  const served: string[] = []
  for (;;) {
    const item = list.find(({ claim, user }) => share.mayTake(claim, user.bodyProgress))
    if (item === undefined) return served
    list.splice(list.indexOf(item), 1)
    share.take(item.claim)
    held.push(item)
    served.push(item.name)
  }
}

t.test('the longest waiting that may take a connection is next, as if each was looked at', async () => {
  fc.assert(
    fc.property(fc.nat(40), fc.array(step, { maxLength: 120 }), (spare, steps) => {
      const connectionsMax = 1 + spare
      const held: Waiting[] = []
      const modelHeld: Waiting[] = []
      const share = new Share(connectionsMax, held)
      const modelShare = new Share(connectionsMax, modelHeld)
      const queue = new WaitingQueue<Waiting>()
      const list: Waiting[] = []
      steps.forEach((each, index) => {
        if (each.kind === 'arrive') {
          queue.add(waiting(share, `${index}`, each.user))
          list.push(waiting(modelShare, `${index}`, each.user))
        } else if (each.kind === 'free' && held.length > 0) {
          release(share, held, each.which)
          release(modelShare, modelHeld, each.which)
        } else if (each.kind === 'cancel' && list.length > 0) {
          const [dropped] = list.splice(each.which % list.length, 1)
          for (const item of waitingIn(share, dropped)) queue.remove(item)
        }
        const served = serve(share, queue, held)
        const expected = serveModel(modelShare, list, modelHeld)
        assert.deepEqual(served, expected)
        assert.equal(queue.size, list.length)
      })
    }),
    { numRuns: 1_000, seed: 13 },
  )
})

/** Finds the waiting request with the name of the dropped one. */
function waitingIn(share: Share, dropped: Waiting | undefined): readonly Waiting[] {
  if (!dropped) return []
  let item = share.claimOf(dropped.user).network.first as Waiting | undefined
  while (item && item.name !== dropped.name) item = item.after as Waiting | undefined
  return item ? [item] : []
}

function release(share: Share, held: Waiting[], which: number): void {
  const [released] = held.splice(which % held.length, 1)
  if (released) share.release(released.claim)
}

t.test('those of a network that has its share are not looked at, however many wait', async (t) => {
  const share = new Share(128, [])
  const queue = new WaitingQueue<Waiting>()
  let looks = 0
  const user: ConnectionUser = {
    clientNetwork: 'crowd',
    accountId: undefined,
    clientSession: undefined,
    get bodyProgress() {
      looks++
      return 'whole' as const
    },
  }
  const claim: Claim = share.claimOf(user)
  while (share.mayTake(claim, 'whole')) share.take(claim)
  const links = { claim, number: undefined, before: undefined, after: undefined }
  for (let index = 0; index < 10_000; index++) queue.add({ ...links, name: `${index}`, user })
  t.equal(queue.next(share), undefined)
  t.equal(looks, 0)
  const other = waiting(share, 'other', { network: 1, account: undefined, bodyProgress: 'whole' })
  queue.add(other)
  t.equal(queue.next(share), other)
  share.release(claim)
  t.equal(queue.next(share)?.name, '0')
  t.ok(looks <= 2, `${looks} looks`)
})

t.test('parties that use nothing are dropped, those that use or wait for something are kept', async (t) => {
  const parties = new Parties(() => ({ inUse: 0, waiting: 0 }))
  const [unused, using, queued] = [parties.of('unused'), parties.of('using'), parties.of('queued')]
  using.inUse++
  queued.waiting++
  for (let index = 0; index < 1_021; index++) parties.of(`${index}`)
  t.equal(parties.of('unused'), unused)
  parties.of('one more')
  t.not(parties.of('unused'), unused)
  t.equal(parties.of('using'), using)
  t.equal(parties.of('queued'), queued)
})
