import t, { type Test } from 'tap'
import { startBackend, startCannedBackend, startRawBackend, startServer } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { freePort, until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { ask } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

const timeouts = { connect: '200ms', response: '200ms', idle: '200ms' }

/** A gateway whose path of a name leads to the upstream of that name. */
function startWith(t: Test, urls: Readonly<Record<string, string>>, options: object = {}) {
  const names = Object.keys(urls)
  return startGateway(t, {
    config: {
      upstreams: Object.fromEntries(
        names.map((name) => [name, { targets: [{ url: urls[name] }], timeouts, ...options }]),
      ),
      routes: names.map((name) => ({ name, path: `/${name}`, upstream: name, auth: 'none' })),
    },
  })
}

const invalid: Readonly<Record<string, string>> = {
  empty: '',
  garbage: 'SSH-2.0-OpenSSH_9.2\r\n\r\n',
  http2: 'HTTP/2 200 OK\r\n\r\n',
  status: 'HTTP/1.1 2000 OK\r\n\r\n',
  lengths: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc',
  both: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  coding: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n',
  header: 'HTTP/1.1 200 OK\r\nX Y: z\r\n\r\n',
  folded: 'HTTP/1.1 200 OK\r\nX: y\r\n z\r\n\r\n',
  unasked: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  large: `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(200_000)}\r\n\r\n`,
}

t.test('a malformed answer is 502, and none of it reaches the client', async (t) => {
  const urls: Record<string, string> = {}
  for (const [name, answer] of Object.entries(invalid)) {
    urls[name] =
      answer === ''
        ? await startRawBackend(t, (socket) => socket.on('data', () => socket.end()))
        : await startCannedBackend(t, answer)
  }
  const gateway = await startWith(t, urls)
  for (const name of Object.keys(invalid)) {
    const response = await ask(t, gateway.url, `GET /${name}`)
    assertProblem(t, response, { status: 502, code: 'upstream-invalid-response' })
    t.equal(response.headers['retry-after'], undefined)
  }
})

t.test('an unreachable backend is 502, whatever the request', async (t) => {
  const gateway = await startWith(t, {
    refused: `http://127.0.0.1:${await freePort()}`,
    unknown: 'http://no-such-host.invalid:3000',
    untrusted: (await startServer(t, (_request, response) => response.end())).replace('http:', 'https:'),
  })
  for (const path of ['/refused', '/unknown', '/untrusted']) {
    for (const [line, body] of [
      [`GET ${path}`, undefined],
      [`POST ${path}`, 'x'.repeat(100_000)],
    ] as const) {
      const response = await ask(t, gateway.url, line, [], body)
      assertProblem(t, response, { status: 502, code: 'upstream-unreachable' })
      t.notMatch(response.body, /no-such-host|ENOTFOUND|:3000/)
    }
  }
})

t.test('a silent backend is 504', async (t) => {
  const gateway = await startWith(t, {
    silent: await startRawBackend(t, () => {}),
    informs: await startCannedBackend(t, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
    half: await startCannedBackend(t, 'HTTP/1.1 200 OK\r\nContent-Le'),
  })
  assertProblem(t, await ask(t, gateway.url, 'GET /silent'), { status: 504, code: 'upstream-timeout' })
  assertProblem(t, await ask(t, gateway.url, 'POST /silent', [], 'x'), {
    status: 504,
    code: 'upstream-timeout',
  })
  assertProblem(t, await ask(t, gateway.url, 'GET /half'), { status: 504, code: 'upstream-timeout' })
  const client = await connectRaw(t, gateway.url)
  client.send('GET /informs HTTP/1.1\r\nHost: x\r\n\r\n')
  t.equal((await client.response()).status, 103, 'what comes before the answer is passed on')
  assertProblem(t, await client.response(), { status: 504, code: 'upstream-timeout' })
})

t.test('a truncated answer is truncated for the client too, never ended as if complete', async (t) => {
  const gateway = await startWith(t, {
    counted: await startRawBackend(t, (socket) =>
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345')),
    ),
    chunked: await startRawBackend(t, (socket) =>
      socket.on('data', () =>
        socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n'),
      ),
    ),
    stalled: await startCannedBackend(
      t,
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n',
    ),
  })
  for (const name of ['counted', 'chunked', 'stalled']) {
    const client = await connectRaw(t, gateway.url)
    client.send(`GET /${name} HTTP/1.1\r\nHost: x\r\n\r\n`)
    t.match(await client.readUntil('12345'), /^HTTP\/1\.1 200 OK\r\n/)
    await client.ended()
    t.equal((await client.read().catch(() => Buffer.from('\r\n'))).toString(), '\r\n', 'no end of the body')
  }
})

t.test('a request with all upstream connections in use is 503, without a long wait', async (t) => {
  const held: (() => void)[] = []
  const url = await startServer(t, (_request, response) => held.push(() => response.end('late')))
  const gateway = await startWith(t, { busy: url }, { connections: 1, timeouts: { connect: '200ms' } })
  const first = ask(t, gateway.url, 'GET /busy')
  await until('the first is with the backend', () => held.length > 0)
  const refused = await ask(t, gateway.url, 'GET /busy')
  assertProblem(t, refused, { status: 503, code: 'upstream-unavailable' })
  for (const answer of held) answer()
  t.equal((await first).body, 'late')
})

t.test("a backend's own error answers pass unchanged", async (t) => {
  const backend = await startBackend(t, (_request, response) => {
    response.writeHead(503, 'Busy Now', { 'Content-Type': 'text/plain', 'Retry-After': '7' }).end('busy')
  })
  const gateway = await startWith(t, { backend: backend.url })
  const response = await ask(t, gateway.url, 'GET /backend')
  t.match(response, { status: 503, reason: 'Busy Now', body: 'busy', headers: { 'retry-after': '7' } })
  t.equal(backend.seen.length, 1, 'and the request is not sent again')
})
