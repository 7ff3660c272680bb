import t, { type Test } from 'tap'
import { stalledMs } from '#http/upstream/pool/pool-slots.ts'
import { until } from '../../../setup/net.ts'
import { answerOf, startHeadBackend } from '../../outgoing/backends.ts'
import { type Exchange, exchange, openTestUpstream, request } from '../../outgoing/exchange.ts'

/** An upstream whose clock goes ahead, and exchanges that have begun with a response that goes on. */
async function start(t: Test, count: number, connectTimeoutMs: number) {
  const backend = await startHeadBackend(t, ({ path, socket }) => {
    socket.write(path === '/long' ? 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbegun' : answerOf(path))
  })
  let aheadMs = 0
  const clock = () => performance.now() + aheadMs
  const upstream = openTestUpstream(
    t,
    backend.url,
    { connectionsMax: count, connectTimeoutMs },
    { monotonic: clock },
  )
  const exchanges = Array.from({ length: count }, () => exchange(upstream, { path: '/long' }))
  await until('all have begun', () => exchanges.every(({ events }) => events.includes('data')) || undefined)
  const advance = (ms: number) => {
    aheadMs += ms
  }
  return { upstream, exchanges, advance }
}

const outcomes = (exchanges: readonly Exchange[]) => exchanges.map(({ events }) => events.at(-1))

t.test('clients that read nothing give way to those who wait, the longest first, one for each', async (t) => {
  const { upstream, exchanges, advance } = await start(t, 4, 5_000)
  for (const { call } of exchanges.slice(1)) call.pause()
  exchanges[2]?.call.resume()
  advance(stalledMs)
  t.equal((await request(upstream, { path: '/next' })).body, '/next')
  t.strictSame(outcomes(exchanges), ['data', 'response-stalled', 'data', 'data'])
})

t.test('a client that has read lately, or reads now, is not cut off', async (t) => {
  const { upstream, exchanges, advance } = await start(t, 1, 400)
  const [held] = exchanges
  held?.call.pause()
  advance(stalledMs - 5_000)
  t.equal((await exchange(upstream).failure).reason, 'no-connection')
  held?.call.resume()
  advance(stalledMs)
  t.equal((await exchange(upstream).failure).reason, 'no-connection', 'it reads')
  t.strictSame(outcomes(exchanges), ['data'])
})
