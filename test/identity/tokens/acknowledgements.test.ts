import t, { type Test } from 'tap'
import { openAcknowledgements, pendingMax } from '#identity/tokens/acknowledgements.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { SessionStore } from '#store/sessions.ts'
import type { Store } from '#store/store.ts'
import { until } from '../../setup/net.ts'
import { createAccount, now, second, startSession, useOf } from '../../store/samples.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'

/** A store that can be out of reach, and how often it was asked. */
async function openStore(t: Test) {
  const store = await (await newSqlitePlace(t)).open()
  const state = { isUp: true, steps: 0 }
  const acknowledgeRotations: SessionStore['acknowledgeRotations'] = async (given) => {
    state.steps++
    if (!state.isUp) throw new GatehouseError('store-unavailable')
    await store.acknowledgeRotations(given)
  }
  return { store, state, reached: { acknowledgeRotations } }
}

async function rotateMany(store: Store, count: number) {
  const account = await createAccount(store)
  const sessions = await Promise.all(Array.from({ length: count }, () => startSession(store, account)))
  await Promise.all(sessions.map((session) => store.rotateSession(useOf(session))))
  return sessions.map(({ id }) => ({ sessionId: id, generation: 2, at: now + second }))
}

const noLoss = (error: unknown) => {
  throw error
}

t.test('refresh tokens delivered close together are recorded in one write', async (t) => {
  const { store, state, reached } = await openStore(t)
  const acknowledgements = openAcknowledgements({ store: reached, onLoss: noLoss })
  const given = await rotateMany(store, 40)
  for (const each of given) acknowledgements.enqueue(each)
  await until('all are noted', () => acknowledgements.pendingCount() === 0 || undefined)
  t.equal(state.steps, 1)
  for (const { sessionId, at } of given) t.equal((await store.findSession(sessionId))?.acknowledgedAt, at)
})

t.test('deliveries not recorded in an outage are retried with their original time', async (t) => {
  const { store, state, reached } = await openStore(t)
  const acknowledgements = openAcknowledgements({ store: reached, onLoss: noLoss, retryMs: 5 })
  const [noted, recorded] = await rotateMany(store, 2)
  if (!noted || !recorded) throw new Error('there are no sessions')
  state.isUp = false
  acknowledgements.enqueue(noted)
  await acknowledgements.writeNow(recorded)
  await until('it was offered often', () => state.steps > 5 || undefined)
  // The same token given out once more does not prolong its grace.
  acknowledgements.enqueue({ ...noted, at: noted.at + second })
  t.equal(acknowledgements.pendingCount(), 2)
  state.isUp = true
  await until('all are noted', () => acknowledgements.pendingCount() === 0 || undefined)
  for (const { sessionId, at } of [noted, recorded]) {
    t.equal((await store.findSession(sessionId))?.acknowledgedAt, at)
  }
})

t.test('pending deliveries are recorded before the gateway ends', async (t) => {
  const { store, reached } = await openStore(t)
  const acknowledgements = openAcknowledgements({ store: reached, onLoss: noLoss })
  const [given] = await rotateMany(store, 1)
  if (!given) throw new Error('there is no session')
  acknowledgements.enqueue(given)
  await acknowledgements.close()
  t.equal((await store.findSession(given.sessionId))?.acknowledgedAt, given.at)
})

t.test('deliveries waiting for the store are bounded, and losses reported', async (t) => {
  const { state, reached } = await openStore(t)
  state.isUp = false
  let lost = 0
  const onLoss = (_error: unknown, count: number) => {
    lost += count
  }
  const acknowledgements = openAcknowledgements({ store: reached, onLoss })
  const noteMany = (from: number, to: number) => {
    for (let index = from; index < to; index++) {
      acknowledgements.enqueue({ sessionId: `session${index}`, generation: 2, at: now })
    }
  }
  noteMany(0, pendingMax)
  t.strictSame([acknowledgements.pendingCount(), lost], [pendingMax, 0], 'at the bound')
  noteMany(pendingMax, pendingMax + 1)
  t.strictSame([acknowledgements.pendingCount(), lost], [pendingMax, 1], 'one beyond it')
  noteMany(pendingMax, 2 * pendingMax)
  t.strictSame([acknowledgements.pendingCount(), lost], [pendingMax, pendingMax + 1], 'far beyond it')
  acknowledgements.enqueue({ sessionId: 'session0', generation: 3, at: now })
  t.equal(lost, pendingMax + 1, 'a session that waits already takes no more room')
})

t.test('a failed write of deliveries is reported, and does not block others', async (t) => {
  const lost: unknown[] = []
  let isFaulty = true
  const fault = new Error('damaged')
  const store = {
    acknowledgeRotations: async () => {
      if (isFaulty) throw fault
    },
  }
  const acknowledgements = openAcknowledgements({ store, onLoss: (...what) => lost.push(what) })
  acknowledgements.enqueue({ sessionId: 'a', generation: 2, at: now })
  await until('the loss is reported', () => lost.length > 0 || undefined)
  isFaulty = false
  acknowledgements.enqueue({ sessionId: 'b', generation: 2, at: now })
  await until('the next is written', () => acknowledgements.pendingCount() === 0 || undefined)
  t.strictSame(lost, [[fault, 1]])
})
