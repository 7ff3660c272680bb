import t from 'tap'
import { answerOf, startHeadBackend } from '../../http/outgoing/backends.ts'
import { startBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { connectProxy, headOf, startProxy } from './proxies.ts'

t.test('an answer before the end of the upload is heard at once, and the connection goes on', async (t) => {
  for (const [framing, rest] of [
    ['Content-Length: 10', '67890'],
    ['Transfer-Encoding: chunked', '5\r\n67890\r\n0\r\n\r\n'],
  ] as const) {
    const backend = await startHeadBackend(t, ({ socket, method }) => socket.write(answerOf(method)))
    const client = await connectProxy(t, backend.url)
    client.send(
      `${headOf('POST / HTTP/1.1', framing)}${framing.startsWith('C') ? '12345' : '5\r\n12345\r\n'}`,
    )
    t.equal((await client.response()).body, 'POST')
    // The rest of the body is not taken for another request.
    client.send(rest + headOf('GET / HTTP/1.1'))
    t.equal((await client.response()).body, 'GET')
    t.strictSame(
      backend.heads.map(({ method, turn }) => [method, turn]),
      [
        ['POST', 0],
        ['GET', 0],
      ],
    )
  }
})

t.test('an answer that grows while the upload goes on is not cut by it', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none')
  })
  const client = await connectProxy(t, backend.url)
  client.send(`${headOf('POST / HTTP/1.1', 'Content-Length: 10')}12345`)
  t.match(await client.readUntil('\r\n\r\none'), '200 OK')
  client.send('67890')
  backend.sockets[0]?.write('two')
  t.equal((await client.readBytes(3)).toString(), 'two')
  client.send(headOf('GET / HTTP/1.1'))
  t.match(await client.readUntil('\r\n\r\none'), '200 OK')
})

t.test(
  'a large upload that the target refuses at its head ends with that answer, not with a reset',
  async (t) => {
    // The target closes with most of the body unread, as servers do.
    const backend = await startHeadBackend(t, ({ socket }) => {
      socket.pause()
      socket.write(
        'HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig',
        () => socket.destroy(),
      )
    })
    const outcomes = new Set<string>()
    for (let round = 0; round < 10; round++) {
      const client = await connectProxy(t, backend.url)
      client.send(headOf('PUT / HTTP/1.1', 'Content-Length: 500000'))
      for (let sent = 0; sent < 500_000; sent += 50_000) client.send(Buffer.alloc(50_000))
      const { status, body } = await client.response()
      outcomes.add(`${status} ${body.slice(0, 10)}`)
      client.close()
    }
    t.strictSame([...outcomes], ['413 big'])
  },
)

t.test('the target is rid of an upload that it has answered', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => socket.write(answerOf('enough')))
  const client = await connectProxy(t, backend.url)
  client.send(`${headOf('POST / HTTP/1.1', 'Content-Length: 1000000')}12345`)
  t.equal((await client.response()).body, 'enough')
  await until('the connection is closed', () => backend.sockets[0]?.closed || undefined)
})

t.test('a body larger than the route takes is refused, announced or not', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const { url } = await startProxy(t, backend.url, { route: { maxBody: '8B' } })
  const counted = await connectRaw(t, url)
  counted.send(headOf('POST / HTTP/1.1', 'Content-Length: 9'))
  t.equal((await counted.response()).json().code, 'body-too-large')
  t.equal(backend.heads.length, 0)

  const chunked = await connectRaw(t, url)
  chunked.send(`${headOf('POST / HTTP/1.1', 'Transfer-Encoding: chunked')}8\r\n12345678\r\n1\r\n9\r\n`)
  t.equal((await chunked.response()).json().code, 'body-too-large')
  await until('the target is rid of it', () => backend.sockets.every(({ closed }) => closed) || undefined)
})

t.test('a body just as large as the route takes passes', async (t) => {
  const backend = await startBackend(t)
  const client = await connectProxy(t, backend.url, { route: { maxBody: '8B' } })
  client.send(`${headOf('POST / HTTP/1.1', 'Transfer-Encoding: chunked')}8\r\n12345678\r\n0\r\n\r\n`)
  t.equal((await client.response()).body, 'ok')
  client.send(`${headOf('POST / HTTP/1.1', 'Content-Length: 8')}12345678`)
  t.equal((await client.response()).body, 'ok')
  t.strictSame(
    backend.seen.map(({ body }) => body),
    ['12345678', '12345678'],
  )
})
