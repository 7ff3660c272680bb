import { once } from 'node:events'
import t from 'tap'
import { until } from '../../setup/net.ts'
import { answerOf, startHeadBackend } from '../outgoing/backends.ts'
import { exchange, openTestUpstream, request } from '../outgoing/exchange.ts'

const reusable: Readonly<Record<string, readonly [method: string, answer: string]>> = {
  'a counted body': ['GET', answerOf('ok')],
  chunks: ['GET', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n'],
  'no body, to HEAD': ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
  '204': ['GET', 'HTTP/1.1 204 No Content\r\n\r\n'],
  '304': ['GET', 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n'],
  'a 1xx before': ['GET', `HTTP/1.1 103 Early Hints\r\n\r\n${answerOf('ok')}`],
  'a long Keep-Alive': ['GET', answerOf('ok', 'Keep-Alive: timeout=60\r\n')],
}

for (const [what, [method, answer]] of Object.entries(reusable)) {
  t.test(`a connection is reused after an answer with ${what}`, async (t) => {
    const backend = await startHeadBackend(t, ({ socket }) => socket.write(answer))
    const upstream = openTestUpstream(t, backend.url)
    for (let turn = 0; turn < 5; turn++) await request(upstream, { method })
    t.strictSame(
      backend.heads.map(({ connection, turn }) => [connection, turn]),
      [
        [0, 0],
        [0, 1],
        [0, 2],
        [0, 3],
        [0, 4],
      ],
    )
  })
}

const spent: Readonly<Record<string, string>> = {
  'that says Connection: close': answerOf('ok', 'Connection: close\r\n'),
  'of HTTP/1.0': 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok',
  'whose target gives it up at once': answerOf('ok', 'Keep-Alive: timeout=1\r\n'),
  'that has more behind its end': `${answerOf('ok')}x`,
  'that has another answer behind its end': answerOf('ok') + answerOf('no'),
}

for (const [what, answer] of Object.entries(spent)) {
  t.test(`a connection is not reused after an answer ${what}`, async (t) => {
    const backend = await startHeadBackend(t, ({ socket }) => socket.write(answer))
    const upstream = openTestUpstream(t, backend.url)
    for (let turn = 0; turn < 3; turn++) t.equal((await request(upstream)).body, 'ok')
    t.strictSame(
      backend.heads.map(({ connection, turn }) => [connection, turn]),
      [
        [0, 0],
        [1, 0],
        [2, 0],
      ],
    )
    // It must not stay open for nothing either.
    await until('we close them', () => backend.sockets.every(({ closed }) => closed) || undefined, 4_000)
  })
}

t.test('a connection is not reused after a body delimited by its close', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => socket.end('HTTP/1.1 200 OK\r\n\r\nall'))
  const upstream = openTestUpstream(t, backend.url)
  for (let turn = 0; turn < 2; turn++) t.equal((await request(upstream)).body, 'all')
  t.equal(backend.sockets.length, 2)
})

t.test('a connection is not reused after an answer before the end of the request', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => socket.write(answerOf('early')))
  const upstream = openTestUpstream(t, backend.url)
  for (const [body, lines] of [
    ['counted', 'Content-Length: 5\r\n'],
    ['chunked', 'Transfer-Encoding: chunked\r\n'],
  ] as const) {
    const { call, answer, sent } = exchange(upstream, { method: 'POST', body, lines })
    await sent
    call.write(Buffer.from('he'))
    t.equal((await answer).body, 'early')
    // Too late: what is written now must go nowhere.
    call.write(Buffer.from('llo'))
    call.finish('')
  }
  t.equal((await request(upstream)).body, 'early')
  t.strictSame(
    backend.heads.map(({ method, turn }) => [method, turn]),
    [
      ['POST', 0],
      ['POST', 0],
      ['GET', 0],
    ],
  )
})

t.test('unsolicited bytes on an idle connection close it, and never become an answer', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => {
    socket.write(answerOf('mine', 'Keep-Alive: timeout=60\r\n'))
  })
  const upstream = openTestUpstream(t, backend.url)
  t.equal((await request(upstream)).body, 'mine')
  backend.sockets[0]?.write(answerOf('not asked for'))
  await until('it is closed', () => backend.sockets[0]?.closed || undefined)
  t.equal((await request(upstream)).body, 'mine')
  t.equal(backend.sockets.length, 2)
})

t.test("an idle connection is closed before the target's announced keep-alive timeout", async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) =>
    socket.write(answerOf('ok', 'Keep-Alive: timeout=3\r\n')),
  )
  const upstream = openTestUpstream(t, backend.url)
  await request(upstream)
  const start = performance.now()
  const [socket] = backend.sockets
  if (!socket) throw new Error('no connection was made')
  await once(socket, 'close')
  const keptMs = performance.now() - start
  t.ok(keptMs > 900 && keptMs < 3_500, `kept for ${keptMs} ms`)
})

const feared: Readonly<Record<string, readonly [method: string, answer: string]>> = {
  'the length of a body to HEAD': ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'],
  'chunks announced to HEAD': ['HEAD', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'],
  '304 and a length': ['GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n'],
  '204 and a length': ['GET', 'HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n'],
}

for (const [what, [method, answer]] of Object.entries(feared)) {
  t.test(`a body on a bodiless answer never answers another request: ${what}`, async (t) => {
    const backend = await startHeadBackend(t, ({ socket }) => socket.write(answer))
    const upstream = openTestUpstream(t, backend.url)
    for (let turn = 0; turn < 3; turn++) await request(upstream, { method })
    t.strictSame(
      backend.heads.map(({ turn }) => turn),
      [0, 0, 0],
    )
    await until('we close them', () => backend.sockets.every(({ closed }) => closed) || undefined, 4_000)
  })
}

t.test('no request follows one marked last on its connection', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => socket.write(answerOf('ok')))
  const upstream = openTestUpstream(t, backend.url)
  for (let turn = 0; turn < 3; turn++) await request(upstream, { isLast: true })
  t.strictSame(
    backend.heads.map(({ turn }) => turn),
    [0, 0, 0],
  )
})
