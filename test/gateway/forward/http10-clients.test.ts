import t from 'tap'
import { answerOf, startHeadBackend } from '../../http/outgoing/backends.ts'
import { startServer } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { connectProxy, countInFlight, headOf, startProxy } from './proxies.ts'

t.test('a client of HTTP/1.0 gets an answer it can read, whatever the framing of the target', async (t) => {
  const answers = [
    answerOf('whole'),
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nwho\r\n2\r\nle\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\n\r\nwhole',
  ]
  for (const answer of answers) {
    const backend = await startHeadBackend(t, ({ socket }) => socket.end(answer))
    const client = await connectProxy(t, backend.url)
    client.send(headOf('GET / HTTP/1.0'))
    const { body, headers } = await client.response()
    t.strictSame([body, headers['transfer-encoding']], ['whole', undefined])
    await client.ended()
    t.match(backend.heads[0]?.text, /^GET \/ HTTP\/1\.1\r\n/)
  }
})

t.test('a client of HTTP/1.0 that asks to keep its connection may, where the length is known', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => socket.write(answerOf(path)))
  const client = await connectProxy(t, backend.url)
  for (const path of ['/one', '/two']) {
    client.send(headOf(`GET ${path} HTTP/1.0`, 'Connection: keep-alive'))
    const { body, headers } = await client.response()
    t.equal(body, path)
    t.match(headers.connection, /keep-alive/i)
  }
})

t.test('pipelined requests are answered in their order, though the targets are not', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    // The later it came, the sooner it is answered.
    const delay = path === '/0' ? 60 : path === '/1' ? 30 : 0
    setTimeout(() => socket.write(answerOf(path.repeat(1_000))), delay)
  })
  const client = await connectProxy(t, backend.url)
  client.send(['/0', '/1', '/2', '/3'].map((path) => headOf(`GET ${path} HTTP/1.1`)).join(''))
  for (const path of ['/0', '/1', '/2', '/3']) t.equal((await client.response()).body, path.repeat(1_000))
})

t.test('pipelined requests with bodies get each their own', async (t) => {
  const url = await startServer(t, async (request, response) => {
    const chunks = await request.toArray()
    response.end(`${request.url} ${chunks.join('')}`)
  })
  const client = await connectProxy(t, url)
  client.send(
    `${headOf('POST /a HTTP/1.1', 'Content-Length: 3')}one` +
      `${headOf('POST /b HTTP/1.1', 'Transfer-Encoding: chunked')}3\r\ntwo\r\n0\r\n\r\n` +
      `${headOf('GET /c HTTP/1.1')}${headOf('POST /d HTTP/1.1', 'Content-Length: 4')}four`,
  )
  for (const body of ['/a one', '/b two', '/c ', '/d four']) t.equal((await client.response()).body, body)
})

t.test('a 1xx of a later request waits for the answer to the earlier one', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    if (path === '/earlier') setTimeout(() => socket.write(answerOf('earlier')), 50)
    else socket.write(`HTTP/1.1 103 Early Hints\r\nX-For: later\r\n\r\n${answerOf('later')}`)
  })
  const client = await connectProxy(t, backend.url)
  client.send(headOf('GET /earlier HTTP/1.1') + headOf('GET /later HTTP/1.1'))
  t.equal((await client.response()).body, 'earlier')
  t.equal((await client.response()).headers['x-for'], 'later')
  t.equal((await client.response()).body, 'later')
})

t.test('pipelined requests that may change something are carried out one after the other', async (t) => {
  // Only safe ones may run side by side (RFC 9112 9.3.2): a PUT and the DELETE behind it must not race.
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    if (path !== '/first') socket.write(answerOf(path))
  })
  const { url } = await startProxy(t, backend.url)
  const [client, other] = [await connectRaw(t, url), await connectRaw(t, url)]
  client.send(headOf('PUT /first HTTP/1.1', 'Content-Length: 0') + headOf('DELETE /second HTTP/1.1'))
  const first = await until('the first is asked', () => backend.heads[0])
  // A later client on another connection is not delayed, and by then the second would have come.
  for (let turn = 0; turn < 5; turn++) {
    other.send(headOf('GET /other HTTP/1.1'))
    t.equal((await other.response()).body, '/other')
  }
  t.notOk(backend.heads.some(({ path }) => path === '/second'))
  first.socket.write(answerOf('/first'))
  t.equal((await client.response()).body, '/first')
  t.equal((await client.response()).body, '/second')
})

t.test('a client that leaves cancels all the requests it has pipelined', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const gateway = await startProxy(t, backend.url)
  const client = await connectRaw(t, gateway.url)
  client.send(['/0', '/1', '/2'].map((path) => headOf(`GET ${path} HTTP/1.1`)).join(''))
  await until('they have arrived', async () => (await countInFlight(gateway)) > 0 && backend.heads[0])
  client.close()
  await until(
    'none is counted any more',
    async () => (await countInFlight(gateway)) === 0 || undefined,
    3_000,
  )
  await until(
    'the target is rid of them',
    () => backend.sockets.every(({ closed }) => closed) || undefined,
    3_000,
  )
})

t.test('CONNECT behind a good request does not take the answer from it', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const client = await connectProxy(t, backend.url)
  client.send(`${headOf('GET / HTTP/1.1')}${headOf('CONNECT example.com:443 HTTP/1.1')}`)
  const head = await until('the good one is asked', () => backend.heads[0])
  head.socket.write(answerOf('good'))
  t.equal((await client.response()).body, 'good')
  t.equal((await client.response()).status, 405)
  t.equal(backend.heads.length, 1, 'the target is not asked')
})

t.test('requests behind one that ends the connection are not processed', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => socket.write(answerOf(path)))
  const client = await connectProxy(t, backend.url)
  client.send(headOf('GET /last HTTP/1.1', 'Connection: close') + headOf('DELETE /behind HTTP/1.1'))
  t.equal((await client.response()).body, '/last')
  await client.ended()
  t.strictSame(
    backend.heads.map(({ path }) => path),
    ['/last'],
  )
})

t.test('any number of pipelined requests are answered, though few are read ahead', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => socket.write(answerOf(path)))
  const client = await connectProxy(t, backend.url)
  const paths = Array.from({ length: 5_000 }, (_, index) => `/${index}`)
  client.send(paths.map((path) => headOf(`GET ${path} HTTP/1.1`)).join(''))
  for (const path of paths) {
    const { body } = await client.response()
    if (body !== path) t.equal(body, path)
  }
  t.equal(backend.heads.length, paths.length)
})

t.test('malformed bytes behind a good request do not cost it its answer', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const client = await connectProxy(t, backend.url)
  client.send(`${headOf('POST / HTTP/1.1', 'Content-Length: 0')}\0\0\0 nonsense\r\n\r\n`)
  const head = await until('the good one is asked', () => backend.heads[0])
  head.socket.write(answerOf('good'))
  t.equal((await client.response()).body, 'good')
  t.equal((await client.response()).status, 400)
  await client.ended()
})
