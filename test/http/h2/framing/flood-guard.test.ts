import t from 'tap'
import { FloodGuard } from '#http/h2/framing/flood-guard.ts'
import { ConnectionError } from '#http/h2/framing/protocol.ts'

const controlBytesMax = 262_144
const pingBytes = 17
const pingsAtOnce = Math.floor(controlBytesMax / pingBytes)
const wastedAtOnce = 1_000

interface State {
  now: number
  messageBytes: number
}

function createGuard() {
  const state: State = { now: 1_000, messageBytes: 0 }
  const guard = new FloodGuard(
    () => state.messageBytes,
    () => state.now,
  )
  return { guard, state }
}

/** @returns how many are taken, of at most so many */
function count(most: number, one: () => void): number {
  for (let taken = 0; taken < most; taken++) {
    try {
      one()
    } catch (error) {
      if (error instanceof ConnectionError) return taken
      throw error
    }
  }
  return most
}

t.test('PINGs without messages are taken up to 256 KiB, and not one more', async (t) => {
  const { guard } = createGuard()
  const taken = count(10 * pingsAtOnce, () => guard.countControlFrame(pingBytes))
  t.equal(taken, pingsAtOnce)
})

/** @returns after how many rounds it ends; undefined = it does not */
function endsAfter(rounds: number, round: (guard: FloodGuard, state: State) => void): number | undefined {
  const { guard, state } = createGuard()
  const taken = count(rounds, () => round(guard, state))
  return taken === rounds ? undefined : taken
}

t.test('control frames are taken as long as they are at most eight times as long as messages', async (t) => {
  const messageBytes = 14
  const exchange = (controlBytes: number) => (guard: FloodGuard, state: State) => {
    state.messageBytes += messageBytes
    guard.countControlFrame(controlBytes)
  }
  t.equal(endsAfter(1_000_000, exchange(8 * messageBytes)), undefined)
  const over = endsAfter(1_000_000, exchange(8 * messageBytes + 1))
  t.ok(over !== undefined && over >= controlBytesMax, `one byte more ends it after ${over} messages`)
  const farOver = endsAfter(1_000_000, exchange(80 * messageBytes))
  t.ok(farOver !== undefined && farOver <= controlBytesMax / (70 * messageBytes), `after ${farOver} messages`)
})

t.test('what a long message allows cannot be saved up', async (t) => {
  const { guard, state } = createGuard()
  state.messageBytes = 1_000_000_000
  const taken = count(1_000_000, () => guard.countControlFrame(pingBytes))
  t.ok(taken <= 2 * pingsAtOnce + 1, `${taken} PINGs`)
})

t.test('PINGs of an idle connection are taken for as long as they are at most 16 KiB a second', async (t) => {
  const second = (bytes: number) => (guard: FloodGuard, state: State) => {
    state.now += 1_000
    guard.countControlFrame(bytes)
  }
  t.equal(endsAfter(100_000, second(16_384)), undefined)
  t.ok((endsAfter(1_000_000, second(16_385)) ?? 0) >= controlBytesMax)
  t.equal(endsAfter(1_000, second(2 * 16_384)), 16)
})

t.test('a thousand streams may be reset at once, then 33 a second', async (t) => {
  const { guard, state } = createGuard()
  t.equal(
    count(10_000, () => guard.countWastedStream()),
    wastedAtOnce,
  )
  state.now += 1_000
  t.equal(
    count(32, () => guard.countWastedStream()),
    32,
  )
  t.ok(count(10_000, () => guard.countWastedStream()) <= 1)
})
