import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { assertProblem } from '../gateway/support/problem.ts'
import { startCannedBackend, startRawBackend } from '../setup/backend.ts'
import { isApp, startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'

const poison = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\nX-Poison: 1\r\n\r\npoison'

/** A backend that answers each request by its path: with the bytes of `/x` once, else with the path itself. */
function startPoisoner(t: Test, bytes: string) {
  return startRawBackend(t, (socket) => {
    socket.on('data', (data) => {
      const path = /^\w+ (\S+)/.exec(data.toString('latin1'))?.[1] ?? ''
      socket.write(
        path === '/public/x'
          ? Buffer.from(bytes, 'latin1')
          : `HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`,
      )
    })
  })
}

/** Answers that leave something behind, and the method they are for. */
const leftovers: Readonly<Record<string, readonly [method: string, answer: string]>> = {
  'an answer longer than its length': ['GET', `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok${poison}`],
  'two answers at once': ['GET', `HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n${poison}`],
  'a body behind 204': ['GET', `HTTP/1.1 204 No Content\r\n\r\n${poison}`],
  'a body behind 304': ['GET', `HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n${poison}`],
  'a body behind the answer to HEAD': ['HEAD', `HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n${poison}`],
  'something behind the last chunk': [
    'GET',
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${poison}`,
  ],
  'two lengths': ['GET', `HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 9\r\n\r\n${poison}`],
  'a length beside chunks': [
    'GET',
    `HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${poison}`,
  ],
}

t.test('leftover bytes of one answer never become part of another', async (t) => {
  for (const [name, [method, answer]] of Object.entries(leftovers)) {
    await t.test(name, async (t) => {
      const gateway = await startGateway(t, { backend: await startPoisoner(t, answer) })
      for (let round = 0; round < 5; round++) {
        const first = await ask(t, gateway.url, `${method} /public/x`)
        t.notMatch(first.head + first.body, /poison/i)
        const paths = Array.from({ length: 4 }, (_, index) => `/public/${round}-${index}`)
        const answers = await Promise.all(paths.map((path) => ask(t, gateway.url, `GET ${path}`)))
        t.strictSame(
          answers.map(({ body }) => body),
          paths,
        )
      }
    })
  }
})

t.test('unsolicited bytes of a backend close its connection, and answer no one', async (t) => {
  const sockets: Socket[] = []
  const url = await startRawBackend(t, (socket) => {
    sockets.push(socket)
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nasked'))
  })
  const gateway = await startGateway(t, { backend: url })
  for (let round = 0; round < 3; round++) {
    t.equal((await ask(t, gateway.url, 'GET /public')).body, 'asked')
    const socket = sockets.at(-1)
    socket?.write(poison)
    await until('the connection is closed', () => socket?.closed)
  }
  t.equal((await ask(t, gateway.url, 'GET /public')).body, 'asked')
  t.equal(sockets.length, 4)
})

t.test('no byte of a backend splits the head that the client gets', async (t) => {
  for (const line of [
    'X: a\rSet-Cookie: refreshToken=evil',
    'X: a\nSet-Cookie: refreshToken=evil',
    'X: a\x00b',
    'X: a\r\n Set-Cookie: refreshToken=evil',
    'X\r\nSet-Cookie: refreshToken=evil',
    'X : a',
    'X\x0b: a',
    ' X: a',
  ]) {
    const answer = `HTTP/1.1 200 OK\r\n${line}\r\nContent-Length: 0\r\n\r\n`
    const gateway = await startGateway(t, { backend: await startCannedBackend(t, answer) })
    const response = await ask(t, gateway.url, 'GET /public')
    assertProblem(t, response, { status: 502, code: 'upstream-invalid-response' })
    t.notOk('set-cookie' in response.headers)
  }
  const answer = 'HTTP/1.1 200 OK\rX: y\r\nContent-Length: 0\r\n\r\n'
  const gateway = await startGateway(t, { backend: await startCannedBackend(t, answer) })
  assertProblem(t, await ask(t, gateway.url, 'GET /public'), {
    status: 502,
    code: 'upstream-invalid-response',
  })
})

t.test('trailers of a backend carry no framing, cookies or credentials', async (t) => {
  const trailers = ['Content-Length: 9', 'Set-Cookie: refreshToken=evil', 'Transfer-Encoding: x', 'X-Sum: 1']
  const answer = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${trailers.join('\r\n')}\r\n\r\n`
  const gateway = await startGateway(t, { backend: await startCannedBackend(t, answer) })
  const client = await connectRaw(t, gateway.url)
  client.send('GET /public HTTP/1.1\r\nHost: x\r\n\r\n')
  if (isApp()) {
    // Its client refuses such trailers, and it forwards none.
    await client.ended()
    return
  }
  const response = await client.response()
  t.equal(response.status, 200)
  t.strictSame(response.trailers, { 'x-sum': '1' })
})

t.test('an endless response head or flood of 1xx ends with 504', async (t) => {
  const timeouts = { response: '500ms' }
  for (const bytes of ['HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n', 'X-Endless: header\r\n']) {
    const url = await startRawBackend(t, (socket) => {
      let timer: NodeJS.Timeout | undefined
      socket.once('data', () => {
        socket.write(bytes.startsWith('X') ? 'HTTP/1.1 200 OK\r\n' : bytes)
        timer = setInterval(() => socket.write(bytes.repeat(10)), 10)
      })
      socket.on('close', () => clearInterval(timer))
    })
    const gateway = await startGateway(t, {
      config: { upstreams: { backend: { targets: [{ url }], timeouts } } },
    })
    const client = await connectRaw(t, gateway.url)
    client.send('GET /public HTTP/1.1\r\nHost: x\r\n\r\n')
    let response = await client.response()
    while (response.status === 103) response = await client.response()
    t.equal(response.status, 504)
    client.close()
  }
})
