import type { Socket } from 'node:net'
import t from 'tap'
import { until } from '../../setup/net.ts'
import { answerOf, startHeadBackend } from './backends.ts'
import { exchange, openTestUpstream, request } from './exchange.ts'

const switching = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'
const ask = { isUpgrade: true, lines: 'Connection: Upgrade\r\nUpgrade: websocket\r\n' }

t.test('a 101 hands over the live socket with the bytes right behind it', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => {
    socket.write(`${switching}early`)
    socket.on('data', (data) => socket.write(`echo ${data}`))
  })
  const { upgrade, events } = exchange(openTestUpstream(t, backend.url), ask)
  const { socket, rest } = await upgrade
  t.equal(rest, 'early')
  t.equal(socket.destroyed, false)
  t.strictSame(events, ['sent', 'upgrade'])
  socket.write('ping')
  let received = ''
  socket.on('data', (data) => {
    received += data.toString()
  })
  await until('the echo has come', () => received === 'echo ping' || undefined, 2_000)
  socket.destroy()
})

t.test('a socket handed over after a 101 keeps no timeout of its exchange', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    if (path !== '/held') socket.write(switching)
  })
  const upstream = openTestUpstream(t, backend.url, { idleTimeoutMs: 50, responseTimeoutMs: 50 })
  const { socket } = await exchange(upstream, ask).upgrade
  const { failure } = exchange(upstream, { path: '/held', responseTimeoutMs: 50 })
  t.equal((await failure).reason, 'response-timeout', 'of one that began later')
  t.equal(socket.destroyed, false)
  socket.destroy()
})

t.test('a declined upgrade is an ordinary answer, and its connection is not kept', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => socket.write(answerOf('no')))
  const upstream = openTestUpstream(t, backend.url)
  t.equal((await exchange(upstream, ask).answer).body, 'no')
  await until('it is closed', () => backend.sockets[0]?.closed || undefined)
  await request(upstream)
  t.equal(backend.sockets.length, 2)
})

t.test('an upgrade never reuses a connection', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    socket.write(path === '/ws' ? switching : answerOf('ok'))
  })
  const upstream = openTestUpstream(t, backend.url)
  await request(upstream)
  const { socket } = await exchange(upstream, { ...ask, path: '/ws' }).upgrade
  t.strictSame(
    backend.heads.map(({ connection, turn }) => [connection, turn]),
    [
      [0, 0],
      [1, 0],
    ],
  )
  socket.destroy()
})

t.test('an upgrade cancelled before the 101 closes its connection', async (t) => {
  const sockets: Socket[] = []
  const backend = await startHeadBackend(t, ({ socket }) => void sockets.push(socket))
  const { call, events } = exchange(openTestUpstream(t, backend.url), ask)
  await until('it is asked', () => sockets[0])
  call.cancel()
  await until('it is closed', () => sockets[0]?.closed || undefined)
  t.strictSame(events, ['sent'])
})
