import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { RefillingBudget } from '#http/h2/framing/flood-guard.ts'
import { resetsMax, resetsPerSecond } from '#http/outgoing/h2/upstream-session.ts'
import { until } from '../../../setup/net.ts'
import { startStreamBackend } from '../../h2/ask.ts'
import { startFrameBackend } from '../../h2/frame-backend.ts'
import { endStream, frameTypes } from '../../h2/frames.ts'
import { type Exchange, exchange, openTestUpstream, request } from '../exchange.ts'

/** What each server ends a connection for: so many at once, and so many a second. */
const guards = { nghttp2: [1_000, 33], netty: [200, 200 / 30] } as const

t.test('a connection has a budget of cancelled requests, which fills again', async (t) => {
  const budget = new RefillingBudget(resetsMax, resetsPerSecond, 0)
  for (let spent = 1; spent < resetsMax; spent++) t.equal(budget.spend(0), true, `${spent}`)
  t.equal(budget.spend(0), false, 'the last one')
  t.equal(budget.spend(0), false, 'one over')
  t.equal(new RefillingBudget(resetsMax, resetsPerSecond, 0).spend(1e9), true)
  t.equal(budget.spend(1e6), true, 'long after')
  const steady = new RefillingBudget(resetsMax, resetsPerSecond, 0)
  for (let second = 1; second < 1_000; second++)
    for (let count = 0; count < resetsPerSecond; count++)
      if (!steady.spend(second * 1_000)) t.fail(`at second ${second}`)
  for (const [server, [burst, rate]] of Object.entries(guards))
    t.ok(resetsMax + 100 < burst && resetsPerSecond < rate, `well below those of ${server}`)
})

/** A backend that answers GETs at once, and nothing else; it counts the resets on each connection. */
async function startCounting(t: Test) {
  const resets: number[] = []
  const backend = await startFrameBackend(t, {
    onFrame: ({ index, respond }, { type, flags, streamId }) => {
      resets[index] ??= 0
      if (type === frameTypes.resetStream) resets[index]++
      if (type === frameTypes.headers && flags & endStream) respond(streamId, 'ok')
    },
  })
  return { backend, resets }
}

const upload = { method: 'POST', body: 'chunked', lines: 'Transfer-Encoding: chunked\r\n' } as const

for (const [who, clientAddress] of [
  ['one client', '203.0.113.1'],
  ['many clients', undefined],
] as const) {
  t.test(`requests that ${who} cancels spend the budget of no connection of others`, async (t) => {
    const { backend, resets } = await startCounting(t)
    const upstream = openTestUpstream(t, backend.url, { protocol: 'http2' })
    const failed: unknown[] = []
    const cancelled = 600
    for (let done = 0; done < cancelled; done += 20) {
      const victims = Array.from({ length: 5 }, () => request(upstream).catch((error) => failed.push(error)))
      const uploads = Array.from({ length: 20 }, () =>
        exchange(upstream, { ...upload, ...(clientAddress && { clientAddress }) }),
      )
      await Promise.all(uploads.map(({ sent }) => sent))
      for (const { call } of uploads) call.cancel()
      await Promise.all(victims)
    }
    t.strictSame(failed, [])
    const total = () => resets.reduce((sum, count) => sum + count, 0)
    await until('all resets have come', () => total() === cancelled || undefined)
    t.ok(Math.max(...resets) <= resetsMax + 100, `no connection had more than ${Math.max(...resets)}`)
    t.ok(resets.length <= 1 + cancelled / (resetsMax - 20), `${resets.length} connections`)
  })
}

t.test('a connection whose budget is spent ends with its last request', async (t) => {
  const { backend } = await startCounting(t)
  const upstream = openTestUpstream(t, backend.url, { protocol: 'http2' })
  const kept = exchange(upstream, upload)
  await kept.sent
  const cancel = async ({ sent, call }: Exchange) => {
    await sent
    call.cancel()
  }
  for (let count = 1; count < resetsMax; count++) await cancel(exchange(upstream, upload))
  t.equal((await request(upstream)).body, 'ok')
  t.equal(backend.connections.length, 1, 'one short of it')
  await cancel(exchange(upstream, upload))
  t.equal((await request(upstream)).body, 'ok')
  t.equal(backend.connections.length, 2)
  const first = backend.connections[0]
  t.equal(first?.socket.readableEnded, false, 'it has a request')
  const streamId = first?.frames.find(({ type }) => type === frameTypes.headers)?.streamId ?? 0
  first?.respond(streamId, 'late')
  t.equal((await kept.answer).body, 'late')
  await until('it is closed', () => first?.socket.closed || undefined)
})

t.test('the guard of a real server cuts nobody off, whoever cancels', async (t) => {
  // Node's is that of nghttp2.
  const backend = await startStreamBackend(t, (stream, raw) => {
    if (raw[raw.indexOf(':method') + 1] === 'GET') {
      stream.respond({ ':status': 200 })
      stream.end('ok')
    }
  })
  const upstream = openTestUpstream(t, backend.url, { protocol: 'http2' })
  const failed: unknown[] = []
  for (let round = 0; round < 36; round++) {
    const uploads = Array.from({ length: 50 }, () => exchange(upstream, upload))
    const victims = Array.from({ length: 5 }, () => request(upstream).catch((error) => failed.push(error)))
    await Promise.all(uploads.map(({ sent }) => sent))
    for (const { call } of uploads) call.cancel()
    await Promise.all(victims)
    await turn()
  }
  t.strictSame(failed, [])
  t.ok(backend.connections() > 10)
})
