import t, { type Test } from 'tap'
import { startServer } from '../../setup/backend.ts'
import { collectGarbage } from '../../setup/collect-garbage.ts'
import { startGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import {
  bodyOf,
  get,
  initialWindowSize,
  pattern,
  roundTrip,
  widen,
  windowDefault,
  windowMax,
} from './flow.ts'
import { frame, openRawSession, settingsPayload } from './frames.ts'

/** A backend that answers with as many bytes as the path says. */
async function start(t: Test): Promise<string> {
  const backend = await startServer(t, (request, response) => {
    response.end(pattern(Number(request.url?.replace('/public/', ''))))
  })
  return (await startGateway(t, { backend })).url
}

const settings = (window: number) => frame('settings', 0, 0, settingsPayload([[initialWindowSize, window]]))

t.test('a response larger than the window goes on with updates of any size', async (t) => {
  const session = await openRawSession(t, await start(t), [[initialWindowSize, 100]])
  get(session, 1, '/public/1000')
  let allowed = 100
  const isFull = () => bodyOf(session, 1).length === allowed || undefined
  const grant = async (bytes: number) => {
    widen(session, 1, bytes)
    allowed += bytes
    await roundTrip(session)
  }
  await until('the window is used up', isFull)
  await roundTrip(session)
  t.equal(bodyOf(session, 1).length, 100, 'and not exceeded')
  for (const bytes of [1, 399, 2, 448]) {
    await grant(bytes)
    t.equal(bodyOf(session, 1).length, allowed)
  }
  t.strictSame(session.ended, [])
  for (let count = 0; count < 50; count++) {
    await grant(1)
    if (!isFull()) t.fail(`${bodyOf(session, 1).length} instead of ${allowed}`)
  }
  t.strictSame(session.ended, [1])
  t.ok(bodyOf(session, 1).equals(pattern(1_000)))
})

t.test('a window that becomes negative has to be filled up before more is sent', async (t) => {
  const session = await openRawSession(t, await start(t))
  widen(session, 0, 10_000_000)
  get(session, 1, '/public/300000')
  const received = () => bodyOf(session, 1).length
  await until('the window is used up', () => received() === windowDefault)
  session.socket.write(settings(1_000))
  widen(session, 1, windowDefault - 1_000)
  await roundTrip(session)
  t.equal(received(), windowDefault, 'a window of 0')
  widen(session, 1, 1)
  await roundTrip(session)
  t.equal(received(), windowDefault + 1)
  session.socket.write(settings(0))
  await roundTrip(session)
  session.socket.write(settings(1_010))
  await roundTrip(session)
  t.equal(received(), windowDefault + 11, 'the change of the setting, not the setting, counts')
  session.socket.write(settings(windowMax - windowDefault))
  await until('it ends', () => session.ended.includes(1))
  t.ok(bodyOf(session, 1).equals(pattern(300_000)))
  t.equal(session.goawayCode(), undefined)
})

t.test('the window of a connection is shared by its streams, in turn', async (t) => {
  const session = await openRawSession(t, await start(t), [[initialWindowSize, windowMax]])
  const ids = [1, 3, 5]
  for (const id of ids) get(session, id, '/public/500000')
  const received = () => ids.map((id) => bodyOf(session, id).length)
  const sum = () => received().reduce((total, bytes) => total + bytes, 0)
  let allowed = windowDefault
  await until('it is used up', () => sum() === allowed)
  const before = received()
  for (let count = 0; count < 30; count++) {
    widen(session, 0, 10_000)
    allowed += 10_000
    await until('it is used up again', () => sum() === allowed)
  }
  const progress = received().map((bytes, index) => bytes - (before[index] ?? 0))
  t.ok(Math.min(...progress) >= 50_000, `${progress} of 300000 bytes`)
  widen(session, 0, 1_500_000 - allowed - 1)
  await roundTrip(session)
  await until('all but one byte', () => sum() === 1_499_999)
  widen(session, 0, 1)
  await until('all end', () => session.ended.length === 3)
  for (const id of ids) t.ok(bodyOf(session, id).equals(pattern(500_000)), `stream ${id}`)
})

t.test('a stream whose window is 0 holds up no other', async (t) => {
  const session = await openRawSession(t, await start(t), [[initialWindowSize, 0]])
  for (const id of [1, 3]) get(session, id, '/public/30000')
  get(session, 5, '/public/0')
  await until('one without a body', () => session.ended.includes(5))
  widen(session, 3, 30_000)
  await until('the other', () => session.ended.includes(3))
  t.ok(bodyOf(session, 3).equals(pattern(30_000)))
  t.equal(bodyOf(session, 1).length, 0)
  widen(session, 1, 30_000)
  await until('the first', () => session.ended.includes(1))
})

t.test('a stream whose window is used up holds up no later one', async (t) => {
  const session = await openRawSession(t, await start(t), [[initialWindowSize, 10]])
  get(session, 1, '/public/300000')
  await until('its window is used up', () => bodyOf(session, 1).length === 10)
  await roundTrip(session)
  get(session, 3, '/public/10')
  await until('a short one is answered', () => session.ended.includes(3))
  t.equal(bodyOf(session, 1).length, 10)
})

t.test('responses that wait are forgotten with their streams', async (t) => {
  const session = await openRawSession(t, await start(t), [[initialWindowSize, 0]])
  const heads = () => session.frames.filter(({ type }) => type === 1).length
  const rounds = 40
  const waitAndReset = async (first: number) => {
    for (let count = 0; count < rounds; count++) {
      const id = first + 2 * count
      get(session, id, '/public/120000')
      await until('its head', () => heads() === (id + 1) / 2)
      await roundTrip(session)
      session.socket.write(frame('resetStream', 0, id, Buffer.from([0, 0, 0, 8])))
    }
    await roundTrip(session)
    return collectGarbage()
  }
  const before = await waitAndReset(1)
  const grown = (await waitAndReset(1 + 2 * rounds)) - before
  t.ok(grown < 1_000_000, `${grown} bytes more after ${rounds} streams`)
})
