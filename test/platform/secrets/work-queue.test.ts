import t from 'tap'
import { createWorkQueue, type WorkOwner } from '#platform/secrets/work-queue.ts'

const options = { concurrency: 2, queueMax: 6, queueMaxPerClient: 3, queueTimeoutMs: 60_000 }

const placeOf = (client: string, network = client, isKnown = false): WorkOwner => ({
  client,
  network,
  isKnown,
})

/** Work that ends when the test releases it. */
function createWork() {
  const running: (() => void)[] = []
  let most = 0
  const work = () =>
    new Promise<void>((resolve) => {
      running.push(resolve)
      most = Math.max(most, running.length)
    })
  return { work, running, most: () => most, endOne: () => running.shift()?.() }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test('the work queue runs no more jobs at once than allowed, in order', async (t) => {
  const queue = createWorkQueue(options)
  const { work, running, most, endOne } = createWork()
  const who = ['a', 'a', 'a', 'a', 'b', 'b', 'c']
  const passes = who.map((name) => queue.run(placeOf(name), work))
  for (const [index] of passes.entries()) {
    await settled()
    t.equal(running.length, Math.min(options.concurrency, passes.length - index))
    endOne()
  }
  await Promise.all(passes)
  t.equal(most(), options.concurrency)
})

t.test('a client address has a limited share of the work queue', async (t) => {
  const queue = createWorkQueue(options)
  const { work, endOne } = createWork()
  const passes = ['a', 'a', 'a', 'a', 'a'].map((name) => queue.run(placeOf(name), work))
  await t.rejects(queue.run(placeOf('a'), work), { code: 'sign-in-busy' }, 'one more of the same')
  for (const name of ['b', 'c', 'd']) passes.push(queue.run(placeOf(name), work))
  for (const _ of passes) {
    await settled()
    endOne()
  }
  await Promise.all(passes)
})

/** Starts work of all in order, ends it one by one, and says in which order it began. */
async function orderOf(places: readonly WorkOwner[], queueMax = 64): Promise<readonly string[]> {
  const queue = createWorkQueue({
    concurrency: 1,
    queueMax,
    queueMaxPerClient: 64,
    queueTimeoutMs: 60_000,
  })
  const order: string[] = []
  const passes = places.map((place) => queue.run(place, async () => void order.push(place.client)))
  await Promise.allSettled(passes)
  return order
}

t.test('the work queue alternates between networks, and between clients of one', async (t) => {
  const flood = ['f1', 'f1', 'f1', 'f2', 'f1'].map((client) => placeOf(client, 'flood'))
  const order = await orderOf([...flood, placeOf('one', 'elsewhere'), placeOf('two', 'else')])
  t.strictSame(order, ['f1', 'f1', 'one', 'two', 'f2', 'f1', 'f1'])
})

t.test('the work queue serves known clients before unknown ones', async (t) => {
  const strangers = Array.from({ length: 5 }, (_, index) => placeOf(`stranger ${index}`))
  const order = await orderOf([...strangers, placeOf('known', 'home', true)])
  t.equal(order.indexOf('known'), 1, 'right after the one that was at work')
})

t.test('a full work queue drops a job of the network with most for one with fewer', async (t) => {
  const tens = Array.from({ length: 64 }, (_, index) =>
    placeOf(`10.0.${index % 10}.7`, `10.0.${index % 10}.0/24`),
  )
  const order = await orderOf([placeOf('at work'), ...tens, placeOf('192.0.2.1', '192.0.2.0/24')])
  t.equal(order.length, 65, 'one is refused')
  t.ok(order.indexOf('192.0.2.1') <= 11, `served as number ${order.indexOf('192.0.2.1')}`)
})

t.test('a work queue full of unknown clients still has room for known ones', async (t) => {
  const strangers = Array.from({ length: 20 }, (_, index) => placeOf(`stranger ${index}`))
  const order = await orderOf([placeOf('at work'), ...strangers, placeOf('known', 'home', true)], 6)
  t.strictSame(order.slice(0, 2), ['at work', 'known'])
  t.equal(order.length, 8)
})

t.test('a full work queue refuses a network that has no fewer jobs than others', async (t) => {
  const queue = createWorkQueue({ ...options, concurrency: 1, queueMax: 2 })
  const { work, endOne } = createWork()
  const passes = ['a', 'b', 'c'].map((name) => queue.run(placeOf(name), work))
  await t.rejects(queue.run(placeOf('d'), work), { code: 'sign-in-busy' })
  for (const _ of passes) {
    await settled()
    endOne()
  }
  await Promise.all(passes)
})

t.test('no job waits in the work queue longer than the limit', async (t) => {
  const queue = createWorkQueue({ ...options, concurrency: 1, queueTimeoutMs: 20 })
  const { work, endOne } = createWork()
  const first = queue.run(placeOf('a'), work)
  await t.rejects(queue.run(placeOf('b'), work), { code: 'sign-in-busy' })
  endOne()
  await first
  const next = queue.run(placeOf('c'), work)
  await settled()
  endOne()
  await next
})

t.test('a failed job frees its place in the work queue', async (t) => {
  const queue = createWorkQueue({ ...options, concurrency: 1 })
  const failing = queue.run(placeOf('a'), async () => {
    throw new Error('it fails')
  })
  const next = queue.run(placeOf('a'), async () => 'done')
  await t.rejects(failing, { message: 'it fails' })
  t.equal(await next, 'done')
})
