import type { Socket } from 'node:net'
import t from 'tap'
import { answerOf, startHeadBackend } from '../../http/outgoing/backends.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { connectProxy, headOf, startProxy } from './proxies.ts'

const starts: Readonly<Record<string, string>> = {
  'a counted answer': 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart',
  'a chunked answer': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n',
  'a chunked answer, within a chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\npart',
  'a chunked answer, before its last line':
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n0\r\n',
}

const ends: Readonly<Record<string, (socket: Socket) => void>> = {
  closes: (socket) => socket.end(),
  resets: (socket) => socket.resetAndDestroy(),
}

for (const [what, start] of Object.entries(starts)) {
  for (const [how, end] of Object.entries(ends)) {
    t.test(`a target that ${how} within ${what} leaves the client with a visibly broken one`, async (t) => {
      const backend = await startHeadBackend(t, ({ socket }) => socket.write(start))
      const client = await connectProxy(t, backend.url)
      client.send(headOf('GET / HTTP/1.1'))
      let received = await client.readUntil('part')
      const [socket] = backend.sockets
      if (socket) end(socket)
      await client.ended()
      while (!client.isEnded) received += String(await client.read())
      // Neither the last chunk nor as many bytes as were promised.
      t.notMatch(received, /0\r\n\r\n$/)
      t.ok(received.length < 500)
    })
  }
}

t.test('a client of HTTP/1.0 cannot take a broken answer for a whole one either', async (t) => {
  // It knows the end of the body by the end of the connection alone: only a reset shows it.
  const backend = await startHeadBackend(t, ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n')
  })
  const client = await connectProxy(t, backend.url)
  let error: NodeJS.ErrnoException | undefined
  client.socket.on('error', (cause) => {
    error = cause
  })
  client.send(headOf('GET / HTTP/1.0'))
  await client.readUntil('part')
  backend.sockets[0]?.destroy()
  await client.ended().catch(() => {})
  t.equal(error?.code, 'ECONNRESET')
})

t.test('a truncated answer cuts off no other client', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    socket.write(path === '/broken' ? 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart' : answerOf(path))
  })
  const { url } = await startProxy(t, backend.url)
  const [broken, whole] = [await connectRaw(t, url), await connectRaw(t, url)]
  broken.send(headOf('GET /broken HTTP/1.1'))
  await broken.readUntil('part')
  whole.send(headOf('GET /one HTTP/1.1'))
  t.equal((await whole.response()).body, '/one')
  backend.heads.find(({ path }) => path === '/broken')?.socket.destroy()
  await broken.ended()
  whole.send(headOf('GET /two HTTP/1.1'))
  t.equal((await whole.response()).body, '/two')
})

t.test('silence of the target within a body breaks it off', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart'),
  )
  const gateway = await startProxy(t, backend.url, { upstream: { timeouts: { idle: '100ms' } } })
  const client = await connectRaw(t, gateway.url)
  client.send(headOf('GET / HTTP/1.1'))
  await client.readUntil('part')
  await client.ended()
  await until('the target is rid of it', () => backend.sockets[0]?.closed || undefined)
  const line = await until('it is logged', () => gateway.logLines.find((line) => line.includes('"request"')))
  t.match(line, '"code":"upstream-timeout"')
  t.match(line, '"isComplete":false')
})
