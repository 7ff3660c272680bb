import { Socket } from 'node:net'
import t from 'tap'
import type { BodyProgress } from '#http/client-exchange.ts'
import { startRawBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { answerOf, type SeenHead, startHeadBackend } from '../outgoing/backends.ts'
import { exchange, openTestUpstream, request } from '../outgoing/exchange.ts'

const tick = () => new Promise((resolve) => setImmediate(resolve))

t.test('the pool never exceeds its connections, and serves the longest waiting first', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const upstream = openTestUpstream(t, backend.url, { connectionsMax: 2 })
  const answers = Array.from({ length: 8 }, (_, index) => request(upstream, { path: `/${index}` }))
  for (let served = 0; served < 8; served++) {
    const head = await until('the next is asked', () => backend.heads[served])
    t.ok(backend.heads.length <= served + 2, 'one that waits was asked before its turn')
    head.socket.write(answerOf(head.path))
  }
  t.strictSame(backend.heads.map(({ path }) => path).slice(2), ['/2', '/3', '/4', '/5', '/6', '/7'])
  t.strictSame(
    (await Promise.all(answers)).map(({ body }) => body),
    ['/0', '/1', '/2', '/3', '/4', '/5', '/6', '/7'],
  )
  t.equal(backend.sockets.length, 2)
})

t.test('a closed connection makes room for a queued request', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) =>
    socket.end(answerOf(path, 'Connection: close\r\n')),
  )
  const upstream = openTestUpstream(t, backend.url, { connectionsMax: 1 })
  const answers = Array.from({ length: 5 }, (_, index) =>
    request(upstream, { path: `/${index}`, method: 'POST' }),
  )
  t.strictSame(
    (await Promise.all(answers)).map(({ body }) => body),
    ['/0', '/1', '/2', '/3', '/4'],
  )
  t.equal(backend.sockets.length, 5)
})

t.test('a failed connection makes room for a queued request', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path, connection }) => {
    if (connection % 2 === 0) socket.destroy()
    else socket.write(answerOf(path))
  })
  const upstream = openTestUpstream(t, backend.url, { connectionsMax: 1 })
  const outcomes = Array.from({ length: 4 }, (_, index) =>
    request(upstream, { path: `/${index}`, method: 'POST' }).then(
      ({ body }) => body,
      () => 'failed',
    ),
  )
  t.strictSame(await Promise.all(outcomes), ['failed', '/1', '/2', '/3'])
})

t.test('a request queued too long fails, and is not sent later', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const upstream = openTestUpstream(t, backend.url, { connectionsMax: 1, connectTimeoutMs: 100 })
  const first = exchange(upstream, { path: '/first' })
  const second = exchange(upstream, { path: '/second' })
  t.equal((await second.failure).reason, 'no-connection')
  t.strictSame(second.events, ['no-connection'])
  const head = await until('the first is asked', () => backend.heads[0])
  head.socket.write(answerOf('ok'))
  t.equal((await first.answer).body, 'ok')
  const third = exchange(upstream, { path: '/third' })
  await until('the third is asked', () => backend.heads[1])
  t.strictSame(
    backend.heads.map(({ path }) => path),
    ['/first', '/third'],
  )
  third.call.cancel()
})

t.test('a body that waits for those that arrive has its turn when they have arrived', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const upstream = openTestUpstream(t, backend.url, { connectionsMax: 4, connectTimeoutMs: 5_000 })
  let progress: BodyProgress = 'flowing'
  const arriving = () => exchange(upstream, { method: 'POST', bodyProgress: () => progress })
  const first = [arriving(), arriving(), arriving()]
  await until('three quarters are in use', () => backend.heads.length === 3)
  const late = exchange(upstream, { method: 'POST', path: '/late', bodyProgress: () => 'flowing' })
  await tick()
  t.strictSame(late.events, [])
  progress = 'whole'
  await until('it is sent, though none of them is answered', () => backend.heads.length === 4)
  t.strictSame(late.events, ['sent'])
  for (const { call } of [...first, late]) call.cancel()
})

t.test('a request cancelled in the queue is never sent, and the next takes its turn', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const upstream = openTestUpstream(t, backend.url, { connectionsMax: 1 })
  const [first, second, third] = ['/1', '/2', '/3'].map((path) => exchange(upstream, { path }))
  if (!first || !second || !third) throw new Error('not all were made')
  second.call.cancel()
  const head = await until('the first is asked', () => backend.heads[0])
  head.socket.write(answerOf('one'))
  const next: SeenHead = await until('the next is asked', () => backend.heads[1])
  t.equal(next.path, '/3')
  next.socket.write(answerOf('three'))
  t.strictSame([(await first.answer).body, (await third.answer).body], ['one', 'three'])
  t.strictSame(second.events, [])
})

t.test('a request cancelled while connecting frees its connection at once', async (t) => {
  const sockets: Socket[] = []
  // It takes connections, but never shakes hands.
  const url = await startRawBackend(t, (socket) => void sockets.push(socket.resume()))
  const upstream = openTestUpstream(t, url.replace('http:', 'https:'), { connectionsMax: 1 })
  const first = exchange(upstream)
  await until('the first connection', () => sockets[0])
  const second = exchange(upstream)
  await tick()
  t.equal(sockets.length, 1)
  first.call.cancel()
  await until('the second connection', () => sockets[1])
  await until('the first is gone', () => sockets[0]?.closed || undefined)
  second.call.cancel()
  await until('the second is gone', () => sockets[1]?.closed || undefined)
  t.strictSame([first.events, second.events], [[], []])
})

t.test('a request queued, then cancelled while connecting, frees its connection too', async (t) => {
  const sockets: Socket[] = []
  const url = await startRawBackend(t, (socket) => void sockets.push(socket.resume()))
  const upstream = openTestUpstream(t, url.replace('http:', 'https:'), { connectionsMax: 1 })
  const [first, second, third] = [exchange(upstream), exchange(upstream), exchange(upstream)]
  first.call.cancel()
  await until(
    'a connection for the second',
    () => sockets.length === 2 || sockets[0]?.closed === false || undefined,
  )
  second.call.cancel()
  await until(
    'a connection for the third',
    () => sockets.filter(({ closed }) => !closed).length === 1 || undefined,
  )
  third.call.cancel()
  await until('all are gone', () => sockets.every(({ closed }) => closed) || undefined)
  t.strictSame([first.events, second.events, third.events], [[], [], []])
})

t.test('a cancelled exchange closes its connection, and makes room', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, connection }) => {
    if (connection > 0) socket.write(answerOf('ok'))
  })
  const upstream = openTestUpstream(t, backend.url, { connectionsMax: 1 })
  const first = exchange(upstream)
  await until('the first is asked', () => backend.heads[0])
  first.call.cancel()
  t.equal((await request(upstream)).body, 'ok')
  t.ok(backend.sockets[0]?.closed)
  t.strictSame(first.events, ['sent'])
})

t.test('an upgrade uses a connection beyond those of the pool', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    if (path === '/ws')
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
  })
  const upstream = openTestUpstream(t, backend.url, { connectionsMax: 1 })
  const held = exchange(upstream)
  await until('it is asked', () => backend.heads[0])
  const { socket } = await exchange(upstream, { path: '/ws', isUpgrade: true }).upgrade
  socket.destroy()
  backend.heads[0]?.socket.write(answerOf('ok'))
  t.equal((await held.answer).body, 'ok')
})

t.test('a client connection keeps the last of the connections that it has authenticated', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    if (path === '/next') socket.write(answerOf('next'))
  })
  const upstream = openTestUpstream(t, backend.url)
  const clientSocket = new Socket()
  t.teardown(() => clientSocket.destroy())
  const asked = { clientSocket, bindsConnection: true }
  const answers = [request(upstream, asked), request(upstream, asked)]
  await until('both are asked', () => backend.heads[1])
  for (const { socket } of backend.heads) socket.write(answerOf('ok'))
  await Promise.all(answers)
  await until('the earlier one is closed', () => backend.sockets.some(({ closed }) => closed) || undefined)
  t.equal((await request(upstream, { clientSocket, path: '/next' })).body, 'next')
  t.equal(backend.sockets.length, 2)
})

t.test('closing an upstream closes idle connections, and busy ones after their answer', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    if (path === '/fast') socket.write(answerOf('fast'))
  })
  const upstream = openTestUpstream(t, backend.url)
  const slow = exchange(upstream, { path: '/slow' })
  await request(upstream, { path: '/fast' })
  upstream.close()
  const isClosed = (path: string) => backend.heads.find((head) => head.path === path)?.socket.closed
  await until('the idle one is closed', () => isClosed('/fast') || undefined)
  t.equal(isClosed('/slow'), false)
  backend.heads.find(({ path }) => path === '/slow')?.socket.write(answerOf('slow'))
  t.equal((await slow.answer).body, 'slow')
  await until('the other is closed', () => isClosed('/slow') || undefined)
})

t.test('a pool has no timer before its first idle connection', async (t) => {
  const timers = t.capture(globalThis, 'setTimeout', setTimeout)
  const intervals = t.capture(globalThis, 'setInterval', setInterval)
  const backend = await startHeadBackend(t, ({ socket, path }) => socket.write(answerOf(path)))
  const sweeps = () => [...timers(), ...intervals()].filter(({ args }) => args[1] === 1_000)
  const upstream = openTestUpstream(t, backend.url)
  t.equal(sweeps().length, 0)
  await request(upstream, { path: '/' })
  await request(upstream, { path: '/' })
  t.equal(sweeps().length, 1)
})
