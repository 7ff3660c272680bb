import t from 'tap'
import { answerOf, startHeadBackend } from '../../http/outgoing/backends.ts'
import { startBackend, startCannedBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { connectProxy, headOf } from './proxies.ts'

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n'

t.test('trailers of an answer pass, announced or not, and the connection goes on', async (t) => {
  for (const announced of ['Trailer: X-Sum\r\n', '']) {
    const backend = await startCannedBackend(
      t,
      `${chunked}${announced}\r\n2\r\nok\r\n0\r\nX-Sum: abc\r\nX-Sum: d\r\n\r\n`,
    )
    const client = await connectProxy(t, backend)
    for (let turn = 0; turn < 2; turn++) {
      client.send(headOf('GET / HTTP/1.1', 'TE: trailers'))
      const { body, trailers, headers } = await client.response()
      t.equal(body, 'ok')
      t.strictSame(trailers, { 'x-sum': 'abc\nd' })
      t.equal(headers.trailer, announced === '' ? undefined : 'X-Sum')
    }
  }
})

t.test('trailers pass with Connection: close too', async (t) => {
  const backend = await startCannedBackend(
    t,
    `${chunked}Connection: close\r\n\r\n2\r\nok\r\n0\r\nX-Sum: abc\r\n\r\n`,
  )
  const client = await connectProxy(t, backend)
  client.send(headOf('GET / HTTP/1.1', 'Connection: close'))
  t.strictSame((await client.response()).trailers, { 'x-sum': 'abc' })
  await client.ended()
})

t.test('a client of HTTP/1.0 gets the body without them', async (t) => {
  const backend = await startCannedBackend(
    t,
    `${chunked}Trailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: abc\r\n\r\n`,
  )
  const client = await connectProxy(t, backend)
  client.send(headOf('GET / HTTP/1.0'))
  const { body, headers } = await client.response()
  t.strictSame([body, headers.trailer, headers['transfer-encoding']], ['ok', undefined, undefined])
})

t.test('trailers of an answer change neither framing nor cookies', async (t) => {
  const trailers =
    'Content-Length: 7\r\nTransfer-Encoding: gzip\r\nSet-Cookie: a=b\r\nX-Sum: abc\r\nLocation: http://10.0.0.1/\r\nAccess-Control-Allow-Origin: *\r\n'
  const client = await connectProxy(
    t,
    await startCannedBackend(t, `${chunked}\r\n2\r\nok\r\n0\r\n${trailers}\r\n`),
  )
  for (let turn = 0; turn < 2; turn++) {
    client.send(headOf('GET / HTTP/1.1'))
    t.strictSame((await client.response()).trailers, { 'x-sum': 'abc' })
  }
})

t.test("trailers of an answer that its Connection names stay on the upstream's connection", async (t) => {
  const head = `${chunked}Connection: X-Hop,x-other\r\nX-Hop: head\r\n\r\n2\r\nok\r\n0\r\n`
  const backend = await startCannedBackend(t, `${head}X-Hop: 1\r\nX-Sum: abc\r\nX-Other: 2\r\n\r\n`)
  const client = await connectProxy(t, backend)
  for (let turn = 0; turn < 2; turn++) {
    client.send(headOf('GET / HTTP/1.1', 'TE: trailers'))
    const { headers, trailers } = await client.response()
    t.equal(headers['x-hop'], undefined)
    t.strictSame(trailers, { 'x-sum': 'abc' })
  }
})

const chunks = '2\r\nok\r\n0\r\n'
const announced = headOf('POST / HTTP/1.1', 'Transfer-Encoding: chunked', 'Trailer: X-Sum')

t.test('nothing of the trailer section of a request reaches the target', async (t) => {
  const backend = await startBackend(t)
  const client = await connectProxy(t, backend.url)
  client.send(`${announced}${chunks}X-Sum: abc\r\n\r\n`)
  t.equal((await client.response()).body, 'ok')
  t.equal(backend.last().body, 'ok')
  t.equal(backend.last().headers.trailer, undefined)
  t.strictSame({ ...backend.last().trailers }, {})
})

t.test('trailers of a request pass where the route says so', async (t) => {
  const backend = await startBackend(t)
  const client = await connectProxy(t, backend.url, { route: { trailers: 'pass' } })
  client.send(`${announced}${chunks}X-Sum: abc\r\n\r\n`)
  t.equal((await client.response()).body, 'ok')
  t.equal(backend.last().body, 'ok')
  t.equal(backend.last().headers.trailer, 'X-Sum')
  t.strictSame({ ...backend.last().trailers }, { 'x-sum': 'abc' })
})

t.test('a connection that trailers of a request went on is never reused', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => socket.write(answerOf('ok')))
  const client = await connectProxy(t, backend.url, { route: { trailers: 'pass' } })
  for (let turn = 0; turn < 3; turn++) {
    client.send(`${headOf('POST / HTTP/1.1', 'Transfer-Encoding: chunked')}${chunks}X-Sum: abc\r\n\r\n`)
    t.equal((await client.response()).body, 'ok')
  }
  t.match(backend.heads[0]?.text, /\r\nConnection: close\r\n/)
  await until('all are closed', () => backend.sockets.every(({ closed }) => closed) || undefined)
  t.equal(backend.sockets.length, 3)
})

t.test('trailers that pass bring neither identity nor credentials to the target', async (t) => {
  const backend = await startBackend(t)
  const client = await connectProxy(t, backend.url, { route: { trailers: 'pass' } })
  const trailers = [
    'X-User-Id: eve',
    'x_user_role: Admin',
    'SecretKey: gsk_1',
    'Cookie: refreshToken=x',
    'X-Sum: abc',
  ]
  client.send(
    `${headOf('POST / HTTP/1.1', 'Transfer-Encoding: chunked')}2\r\nok\r\n0\r\n${trailers.join('\r\n')}\r\n\r\n`,
  )
  t.equal((await client.response()).status, 200)
  t.strictSame({ ...backend.last().trailers }, { 'x-sum': 'abc' })
})
