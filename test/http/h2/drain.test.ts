import { once } from 'node:events'
import t, { type Test } from 'tap'
import { startBoth } from '../../setup/both.ts'
import { until } from '../../setup/net.ts'
import { ask, connectHttp2 } from './ask.ts'
import { postBlock } from './flow.ts'
import { endHeaders, endStream, frame, frameTypes, openRawSession, requestBlock } from './frames.ts'

/** What the first GOAWAY names: no stream is excluded yet (RFC 9113 6.8). */
const anyStream = 2 ** 31 - 1

async function start(t: Test, config = {}, mode: 'at once' | 'held' = 'at once') {
  const held: (() => void)[] = []
  const { backend, gateway } = await startBoth(t, {
    answer: (_request, response) => {
      if (mode === 'held') held.push(() => response.end('ok'))
      else response.end('ok')
    },
    config: { shutdown: { drain: '10s' }, ...config },
  })
  const answer = () => {
    for (const send of held) send()
  }
  return { backend: { seen: backend.seen, answer }, gateway }
}

const request = (id: number) => frame('headers', endHeaders | endStream, id, requestBlock('/public/x'))

t.test('a request that was on its way when a shutdown began is answered', async (t) => {
  const { gateway } = await start(t)
  const { socket, ended, lastStreams } = await openRawSession(t, gateway.url)
  socket.write(request(1))
  await until('it is answered', () => ended[0])
  const down = gateway.shutDown()
  socket.write(request(3))
  const closed = once(socket, 'close')
  t.equal(await down, true)
  await closed
  t.strictSame(ended, [1, 3])
  t.strictSame([...new Set(lastStreams)], [anyStream, 3], 'first that requests end, then which was the last')
})

t.test('a call of gRPC that is refused while a shutdown begins ends with its head', async (t) => {
  const { gateway } = await start(t)
  const session = await openRawSession(t, gateway.url)
  const { socket, ended, frames, received } = session
  socket.write(request(1))
  await until('it is answered', () => ended[0])
  // Until it is acknowledged, or a moment has passed, the ends of streams are held back.
  session.holdsPings = true
  const down = gateway.shutDown()
  await until('it begins', () => received.has(frameTypes.ping))
  socket.write(frame('headers', endHeaders, 3, postBlock('/any', [['content-type', 'application/grpc']])))
  const closed = once(socket, 'close')
  socket.write(frame('data', endStream, 3))
  t.equal(await down, true)
  await closed
  const ofCall = frames.filter(({ streamId }) => streamId === 3)
  t.strictSame(
    ofCall.map(({ type, flags }) => [type, flags & endStream]),
    [[frameTypes.headers, endStream]],
  )
})

t.test('a request after the final GOAWAY is not begun, and those before it are answered', async (t) => {
  const { backend, gateway } = await start(t, {}, 'held')
  const { socket, ended, lastStreams } = await openRawSession(t, gateway.url)
  socket.write(request(1))
  await until('the backend has it', () => backend.seen[0])
  const down = gateway.shutDown()
  await until('the last stream is known', () => lastStreams.includes(1))
  socket.write(request(3))
  backend.answer()
  t.equal(await down, true)
  t.strictSame(ended, [1])
  t.equal(backend.seen.length, 1)
})

t.test('a shutdown fails no request of clients that ask on until GOAWAY', async (t) => {
  const { gateway } = await start(t)
  const sessions = await Promise.all(Array.from({ length: 8 }, () => connectHttp2(t, gateway.url)))
  const statuses = new Map<number, number>()
  let count = 0
  const clients = sessions.flatMap((session) =>
    Array.from({ length: 10 }, async () => {
      while (!session.closed) {
        const { status } = await ask(session, '/public/x')
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        count++
      }
    }),
  )
  await until('they are at it', () => count > 400 || undefined)
  t.equal(await gateway.shutDown(), true)
  await Promise.all(clients)
  t.strictSame([...statuses.keys()], [200])
})

t.test('a shutdown does not wait for clients that are gone without a word', async (t) => {
  const { gateway } = await start(t, { shutdown: { drain: '200ms' } })
  const { socket, ended } = await openRawSession(t, gateway.url)
  socket.write(request(1))
  await until('it is answered', () => ended[0])
  socket.pause()
  t.equal(await gateway.shutDown(), true)
})
