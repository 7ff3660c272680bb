import t from 'tap'
import type { UsageCaller } from '#accounts/usage/counts.ts'
import { openUsageRecorder, pendingMax, type UsageAmount, type UsageLoss } from '#accounts/usage/recorder.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { dayOf, startOfDay } from '#platform/time.ts'
import { type UsageBatch, usageBatchMax } from '#store/usage.ts'
import { createRandom } from '../../http/outgoing/random.ts'

const today = dayOf(Date.UTC(2026, 10, 23))
const ada = { accountId: 'ada', key: 'default' }
const one = { requests: 1, units: 1 }

/** A recorder at a clock that is set by hand, whose batches are written into a list, when the test says so. */
function start(t: { teardown(work: () => unknown): void }) {
  const written: UsageBatch[] = []
  const asked: UsageBatch[] = []
  const losses: UsageLoss[] = []
  const state = {
    now: startOfDay(today) + 1_000,
    failure: undefined as Error | undefined,
    beforeWrite: () => {},
  }
  const store = {
    addUsage: async (batch: UsageBatch) => {
      asked.push(batch)
      state.beforeWrite()
      if (state.failure) throw state.failure
      written.push(batch)
    },
  }
  const opened = openUsageRecorder({
    store,
    clock: () => state.now,
    onLoss: (loss) => void losses.push(loss),
    flushMs: 3_600_000,
  })
  const recorder = {
    ...opened,
    opened,
    count: (route: string, caller: UsageCaller, used: UsageAmount) =>
      opened.count({ name: route }, caller, used, state.now),
  }
  t.teardown(() => recorder.close())
  const texts = () =>
    written
      .flatMap(({ entries }) => entries)
      .map(({ accountId, day, key, route, requests, units }) =>
        [accountId, day - today, key, route, requests, units].join(' '),
      )
  return { recorder, written, asked, losses, state, texts }
}

const outOfReach = new GatehouseError('store-unavailable')

t.test('requests of one account, key and route are written as one count', async (t) => {
  const { recorder, written, texts } = start(t)
  for (let count = 0; count < 1_000; count++) recorder.count('orders', ada, one)
  recorder.count('orders', { ...ada, key: 'ci' }, { requests: 1, units: 0 })
  recorder.count('orders', { ...ada, key: 'ci' }, { requests: 0, units: 70 })
  recorder.count('files', ada, one)
  recorder.count('files', { ...ada, accountId: 'bob' }, one)
  await recorder.flush()
  t.strictSame(texts().toSorted(), [
    'ada 0 ci orders 1 70',
    'ada 0 default files 1 1',
    'ada 0 default orders 1000 1000',
    'bob 0 default files 1 1',
  ])
  await recorder.flush()
  t.equal(written.length, 1, 'nothing new, nothing written')
})

t.test(
  'callers who take turns between routes, and after it was written, are counted like others',
  async (t) => {
    const { recorder, texts } = start(t)
    const callers = ['ada', 'bob'].map((accountId) => ({ ...ada, accountId }))
    const others = callers.map((caller) => ({ ...caller }))
    for (let round = 0; round < 3; round++) {
      for (const caller of [...callers, ...others]) {
        for (const route of ['orders', 'files', 'files']) recorder.count(route, caller, one)
      }
      await recorder.flush()
    }
    const ofEach = ['default files 4 4', 'default orders 2 2']
    const expected = ['ada 0', 'bob 0'].flatMap((account) => ofEach.map((rest) => `${account} ${rest}`))
    t.strictSame(texts().toSorted(), [...expected, ...expected, ...expected].toSorted())
  },
)

t.test(
  'routes of a table, also of a reloaded one, are counted by name, whoever was counted last',
  async (t) => {
    const { recorder, texts, state } = start(t)
    const random = createRandom(5)
    const callers = ['ada', 'bob', 'cy'].flatMap((accountId) => [
      { ...ada, accountId },
      { ...ada, accountId, key: 'ci' },
    ])
    const names = Array.from({ length: 40 }, (_, index) => `route ${index}`)
    const routes = names.flatMap((name, index) => [
      { name, index },
      { name, index: names.length - index },
      { name },
    ])
    const expected = new Map<string, number>()
    for (let use = 0; use < 5_000; use++) {
      const [route, caller] = [random.pick(routes), random.pick(callers)]
      recorder.opened.count(route, caller, one, state.now)
      const text = `${caller.accountId} 0 ${caller.key} ${route.name}`
      expected.set(text, (expected.get(text) ?? 0) + 1)
    }
    await recorder.flush()
    t.strictSame(
      texts().toSorted(),
      [...expected].map(([text, count]) => `${text} ${count} ${count}`).toSorted(),
    )
  },
)

t.test('usage counts on the day it was used, up to the last millisecond before midnight UTC', async (t) => {
  const { recorder, state, texts } = start(t)
  state.now = startOfDay(today + 1) - 1
  recorder.count('orders', ada, one)
  state.now = startOfDay(today + 1)
  recorder.count('orders', ada, one)
  recorder.count('orders', ada, one)
  await recorder.flush()
  await recorder.flush()
  t.strictSame(texts().toSorted(), ['ada 0 default orders 1 1', 'ada 1 default orders 2 2'])
})

t.test('a clock that is set back or forwards is noticed within a second', async (t) => {
  const { recorder, state, texts } = start(t)
  const at = (now: number, day: number) => {
    state.now = startOfDay(today + day) + 3_600_000
    recorder.opened.count({ name: 'orders' }, ada, one, now)
  }
  at(0, 0)
  at(999, 1)
  at(1_000, 1)
  at(1_999, -1)
  at(2_000, -1)
  for (let times = 0; times < 3; times++) await recorder.flush()
  t.strictSame(texts().toSorted(), [
    'ada -1 default orders 1 1',
    'ada 0 default orders 2 2',
    'ada 1 default orders 2 2',
  ])
})

t.test('usage is written in bounded batches, each with an ID of its own, and none is lost', async (t) => {
  const { recorder, written } = start(t)
  const accounts = 2 * usageBatchMax + 1
  for (let count = 0; count < accounts; count++)
    recorder.count('orders', { ...ada, accountId: `${count}` }, one)
  await recorder.flush()
  t.strictSame(
    written.map(({ entries }) => entries.length),
    [usageBatchMax, usageBatchMax, 1],
  )
  t.equal(new Set(written.map(({ id }) => id)).size, 3)
})

t.test(
  'in an outage a batch of usage is repeated as it was, and later counts add up behind it',
  async (t) => {
    const { recorder, asked, state, texts, losses } = start(t)
    state.failure = outOfReach
    recorder.count('orders', ada, one)
    for (let times = 0; times < 3; times++) {
      await recorder.flush()
      recorder.count('orders', ada, one)
    }
    t.equal(new Set(asked.map(({ id }) => id)).size, 1, 'one ID: a lost response counts nothing twice')
    state.failure = undefined
    await recorder.flush()
    await recorder.flush()
    t.strictSame(texts(), ['ada 0 default orders 1 1', 'ada 0 default orders 3 3'])
    t.strictSame(losses, [])
  },
)

t.test(
  'usage beyond the limit of an outage is dropped, counted, and reported as the first loss once',
  async (t) => {
    const { recorder, state, texts, losses } = start(t)
    state.failure = outOfReach
    for (let count = 0; count < pendingMax; count++)
      recorder.count('orders', { ...ada, accountId: `${count}` }, one)
    await recorder.flush()
    t.strictSame(losses, [], 'at the limit')
    recorder.count('orders', { ...ada, accountId: 'one too many' }, one)
    await recorder.flush()
    for (let count = 0; count < 500; count++)
      recorder.count('orders', { ...ada, accountId: `more ${count}` }, one)
    await recorder.flush()
    t.match(losses, [
      { requests: 1, isFirst: true },
      { requests: 500, isFirst: false },
    ])
    state.failure = undefined
    await recorder.flush()
    t.equal(texts().length, pendingMax)
    recorder.count('orders', { ...ada, accountId: 'one too many' }, one)
    await recorder.flush()
    t.equal(texts().length, pendingMax + 1, 'there is room again')
  },
)

t.test('a batch that the store cannot take is dropped, and the rest is written', async (t) => {
  const { recorder, state, texts, losses } = start(t)
  state.failure = new Error('a fault')
  recorder.count('orders', ada, { requests: 7, units: 7 })
  await recorder.flush()
  t.match(losses, [{ requests: 7, error: { message: 'a fault' }, isFirst: true }])
  state.failure = undefined
  recorder.count('orders', ada, one)
  await recorder.flush()
  t.strictSame(texts(), ['ada 0 default orders 1 1'])
})

t.test('closing writes all usage, also what an outage has left', async (t) => {
  const { recorder, state, texts } = start(t)
  state.failure = outOfReach
  recorder.count('orders', ada, one)
  await recorder.flush()
  recorder.count('files', ada, one)
  state.failure = undefined
  await recorder.close()
  t.strictSame(texts(), ['ada 0 default orders 1 1', 'ada 0 default files 1 1'])
})

t.test('closing without the store does not wait, and says how much usage is lost', async (t) => {
  const { recorder, state, losses } = start(t)
  state.failure = outOfReach
  recorder.count('orders', ada, { requests: 2, units: 2 })
  await recorder.flush()
  recorder.count('files', ada, { requests: 3, units: 3 })
  await recorder.close()
  t.match(losses, [{ requests: 5 }])
})

t.test('usage that is counted while the recorder closes is written', async (t) => {
  const { recorder, state, texts, losses } = start(t)
  recorder.count('orders', ada, one)
  const late = ['a', 'b', 'c']
  state.beforeWrite = () => {
    const route = late.shift()
    if (route !== undefined) recorder.count(route, ada, one)
  }
  await recorder.close()
  t.strictSame(
    texts(),
    ['orders', 'a', 'b', 'c'].map((route) => `ada 0 default ${route} 1 1`),
  )
  t.strictSame(losses, [])
})

t.test(
  'usage that is counted after the recorder has closed is reported as lost, and nothing is written',
  async (t) => {
    const { recorder, asked, losses } = start(t)
    recorder.count('orders', ada, one)
    await recorder.close()
    recorder.count('orders', ada, { requests: 2, units: 7 })
    recorder.count('files', ada, { requests: 1, units: 0 })
    t.match(losses, [
      { requests: 2, isFirst: true, error: { message: 'usage is no longer recorded' } },
      { requests: 1, isFirst: false },
    ])
    await recorder.flush()
    await recorder.close()
    t.equal(asked.length, 1)
  },
)
