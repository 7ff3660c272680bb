import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import {
  createRefreshTokens,
  createSessionId,
  openAcknowledgements,
  pendingMax,
} from '#identity/tokens/refresh-tokens.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { SessionStore } from '#store/sessions.ts'
import type { Store } from '#store/store.ts'
import { until } from '../../setup/net.ts'
import { createAccount, now, second, startSession, useOf } from '../../store/samples.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'

const sealingKey = randomBytes(32)
const refreshTokens = createRefreshTokens(sealingKey)

t.test('a refresh token encodes session, number and MAC, and parses back', async (t) => {
  for (const generation of [1, 2, 10, 999_999_999]) {
    const sessionId = createSessionId()
    t.match(sessionId, /^[0-9A-Za-z]{20}$/)
    const token = refreshTokens.create(sessionId, generation)
    t.match(token, new RegExp(`^grt_${sessionId}_${generation}_[0-9A-Za-z_-]{43}$`))
    t.strictSame(refreshTokens.parse(token), { sessionId, generation, jkt: undefined })
  }
})

t.test('the same session and number give the same refresh token in every process', async (t) => {
  const sessionId = createSessionId()
  const tokens = [refreshTokens, createRefreshTokens(sealingKey)].map((each) => each.create(sessionId, 7))
  t.equal(tokens[0], tokens[1])
  const others = [refreshTokens.create(sessionId, 8), refreshTokens.create(createSessionId(), 7)]
  const macs = [tokens[0], ...others].map((token) => token?.slice(-43))
  t.equal(new Set(macs).size, 3)
})

t.test('a refresh token with any one character changed is refused', async (t) => {
  const alphabet = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-=+/ ']
  const token = refreshTokens.create(createSessionId(), 12)
  const accepted = [...token].flatMap((letter, index) =>
    alphabet
      .filter((other) => other !== letter)
      .map((other) => token.slice(0, index) + other + token.slice(index + 1))
      .filter((changed) => refreshTokens.parse(changed)),
  )
  t.strictSame(accepted, [])
})

t.test('a refresh token of another sealing key is refused', async (t) => {
  const stranger = createRefreshTokens(randomBytes(32))
  t.equal(refreshTokens.parse(stranger.create(createSessionId(), 1)), undefined)
})

t.test('parts of two refresh tokens cannot be combined', async (t) => {
  const [a, b] = [createSessionId(), createSessionId()]
  const macOf = (sessionId: string, generation: number) =>
    refreshTokens.create(sessionId, generation).slice(-43)
  t.equal(refreshTokens.parse(`grt_${a}_1_${macOf(b, 1)}`), undefined)
  t.equal(refreshTokens.parse(`grt_${a}_2_${macOf(a, 1)}`), undefined)
  t.equal(refreshTokens.parse(`grt_${a}_12_${macOf(a, 1)}`), undefined)
  t.strictSame(refreshTokens.parse(`grt_${a}_1_${macOf(a, 1)}`), {
    sessionId: a,
    generation: 1,
    jkt: undefined,
  })
})

t.test('a refresh token that is bound to a key is bound to that key alone', async (t) => {
  const sessionId = createSessionId()
  const [jkt, other] = ['k'.repeat(43), 'o'.repeat(43)]
  const token = refreshTokens.create(sessionId, 1, jkt)
  t.strictSame(refreshTokens.parse(token), { sessionId, generation: 1, jkt })
  const [text = ''] = token.split('.')
  t.equal(refreshTokens.parse(text), undefined)
  t.equal(refreshTokens.parse(`${text}.${other}`), undefined)
  t.equal(refreshTokens.parse(`${token}.${jkt}`), undefined)
  t.equal(refreshTokens.parse(`${refreshTokens.create(sessionId, 1)}.${jkt}`), undefined)
})

t.test('the number in a refresh token has exactly one spelling', async (t) => {
  const sessionId = createSessionId()
  const mac = refreshTokens.create(sessionId, 1).slice(-43)
  for (const number of ['01', '+1', '1.0', '1e0', '0x1', ' 1', '1 ', '', '0', '-1', '١']) {
    t.equal(refreshTokens.parse(`grt_${sessionId}_${number}_${mac}`), undefined, number)
  }
  // Not even where the MAC is right.
  for (const generation of [0, -1, 1.5, 1e21, Number.NaN]) {
    t.equal(refreshTokens.parse(refreshTokens.create(sessionId, generation)), undefined, String(generation))
  }
})

t.test('a malformed refresh token is refused', async (t) => {
  const token = refreshTokens.create(createSessionId(), 1)
  for (const text of [
    '',
    'grt_',
    `${token}\n`,
    ` ${token}`,
    `${token}=`,
    token.slice(0, -1),
    `${token}${token}`,
    token.toUpperCase(),
    'x'.repeat(5_000_000),
    'grt_'.repeat(1_000_000),
    '__proto__',
  ]) {
    t.equal(refreshTokens.parse(text), undefined, JSON.stringify(text.slice(0, 100)))
  }
})

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
