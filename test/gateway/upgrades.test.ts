import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { startCannedBackend, startRawBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { ask } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'
import { startWebSocketBackend, upgradeLines } from './support/web-socket.ts'

async function start(t: Test) {
  const backend = await startWebSocketBackend(t)
  const route = { upstream: 'backend', websocket: true }
  const routes = [
    { ...route, name: 'ws', path: '/ws', auth: 'none' },
    { ...route, name: 'key', path: '/key', auth: 'secretKey' },
    { ...route, name: 'admin', path: '/admin', auth: 'any', roles: ['Admin'] },
    { ...route, name: 'posts', path: '/posts', auth: 'none', methods: ['POST'] },
    { ...route, name: 'plain', path: '/plain', auth: 'none', websocket: false },
    { ...route, name: 'plain-key', path: '/plain-key', auth: 'secretKey', websocket: false },
  ]
  return { backend, gateway: await startGateway(t, { backend: backend.url, config: { routes } }) }
}

t.test('a refused upgrade is answered as an ordinary request, and its connection ends', async (t) => {
  const { backend, gateway } = await start(t)
  const { secretKey } = await gateway.createAccount()
  for (const [target, headers, status, code] of [
    ['/key', [], 401, 'credentials-missing'],
    ['/key', ['SecretKey: wrong'], 401, 'secret-key-invalid'],
    ['/admin', [`SecretKey: ${secretKey}`], 403, 'role-forbidden'],
    ['/key', [`SecretKey: ${secretKey}`, 'Authorization: Bearer x'], 400, 'credentials-ambiguous'],
    ['/posts', [], 405, 'method-not-allowed'],
    ['/ws/../key', [], 400, 'path-ambiguous'],
    ['/nowhere', [], 404, 'route-not-found'],
  ] as const) {
    const client = await connectRaw(t, gateway.url)
    client.send(`${[`GET ${target} HTTP/1.1`, 'Host: x', ...upgradeLines, ...headers].join('\r\n')}\r\n\r\n`)
    assertProblem(t, await client.response(), { status, code })
    client.close()
  }
  t.equal(backend.upgrades.length + backend.ordinary.length, 0)
})

t.test('WebSocket frames right behind a refused upgrade are not parsed as a request', async (t) => {
  const { backend, gateway } = await start(t)
  const client = await connectRaw(t, gateway.url)
  client.send(`GET /key HTTP/1.1\r\nHost: x\r\n${upgradeLines.join('\r\n')}\r\n\r\n`)
  client.send('GET /ws HTTP/1.1\r\nHost: x\r\n\r\n')
  t.equal((await client.response()).status, 401)
  await client.ended()
  t.equal(backend.upgrades.length + backend.ordinary.length, 0)
})

t.test("a backend's refusal of an upgrade reaches the client", async (t) => {
  const { gateway } = await start(t)
  const refused = await ask(t, gateway.url, 'GET /ws/refused', upgradeLines)
  t.equal(refused.status, 401)
  t.notMatch(refused.headers['content-type'], 'problem', 'it is the answer of the backend')
  const old = upgradeLines.map((line) => line.replace('Version: 13', 'Version: 7'))
  const mistaken = await ask(t, gateway.url, 'GET /ws', old)
  t.equal(mistaken.status, 400)
  t.match(mistaken.headers, { 'sec-websocket-version': /13/ })
  const answer = 'HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno'
  const canned = await startGateway(t, {
    config: {
      upstreams: { backend: { targets: [{ url: await startCannedBackend(t, answer) }] } },
      routes: [{ name: 'ws', path: '/ws', upstream: 'backend', auth: 'none', websocket: true }],
    },
  })
  t.match(await ask(t, canned.url, 'GET /ws', upgradeLines), { status: 426, body: 'no' })
})

t.test('an upgrade on a route without websocket is an ordinary request', async (t) => {
  const { backend, gateway } = await start(t)
  const client = await connectRaw(t, gateway.url)
  for (let turn = 0; turn < 2; turn++) {
    client.send(`GET /plain HTTP/1.1\r\nHost: x\r\n${upgradeLines.join('\r\n')}\r\n\r\n`)
    t.match(await client.response(), { status: 200, body: 'ordinary' })
  }
  t.equal(backend.upgrades.length, 0)
  for (const name of ['upgrade', 'x-user-id']) t.notOk(name in (backend.ordinary[0]?.headers ?? {}))
  t.notMatch(backend.ordinary[0]?.headers.connection, /upgrade/i)
  client.send(`GET /plain-key HTTP/1.1\r\nHost: x\r\n${upgradeLines.join('\r\n')}\r\n\r\n`)
  assertProblem(t, await client.response(), { status: 401, code: 'credentials-missing' })
})

t.test('an Upgrade to anything but websocket is ignored, on every route', async (t) => {
  const { backend, gateway } = await start(t)
  const h2c = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']
  for (const path of ['/ws', '/plain']) {
    for (const headers of [
      h2c,
      ['Upgrade: h2c'],
      ['Connection: Upgrade', 'Upgrade: TLS/1.0'],
      ['Connection: Upgrade', 'Upgrade: h2c, websocket'],
    ]) {
      const response = await ask(t, gateway.url, `GET ${path}`, headers)
      t.match(response, { status: 200, body: 'ordinary' }, headers.join())
      const seen = backend.ordinary.at(-1)?.headers ?? {}
      for (const name of ['upgrade', 'http2-settings'].slice(0, headers === h2c ? 2 : 1))
        t.notOk(name in seen, name)
    }
  }
  const posted = await ask(t, gateway.url, 'POST /ws', upgradeLines, 'body')
  t.match(posted, { status: 200, body: 'ordinary' }, 'nor is an upgrade that is no GET')
})

t.test('a route serves ordinary requests beside its open WebSockets', async (t) => {
  const { gateway } = await start(t)
  t.match(await ask(t, gateway.url, 'GET /ws'), { status: 200, body: 'ordinary' })
  t.match(await ask(t, gateway.url, 'POST /ws', [], 'x'), { status: 200, body: 'ordinary' })
})

t.test('bytes right behind an upgrade request are the first to reach the backend', async (t) => {
  const { gateway } = await start(t)
  const client = await connectRaw(t, gateway.url)
  const frame = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69])
  const head = Buffer.from(`GET /ws HTTP/1.1\r\nHost: x\r\n${upgradeLines.join('\r\n')}\r\n\r\n`)
  client.send(Buffer.concat([head, frame]))
  t.match(await client.readUntil('\r\n\r\n'), /^HTTP\/1\.1 101 /)
  t.strictSame([...(await client.readBytes(4))], [0x81, 2, 0x68, 0x69])
})

t.test('an upgrade pipelined behind an unanswered request waits for that answer', async (t) => {
  const { backend, gateway } = await start(t)
  const client = await connectRaw(t, gateway.url)
  const upgrade = `GET /ws HTTP/1.1\r\nHost: x\r\n${upgradeLines.join('\r\n')}\r\n\r\n`
  client.send(`GET /ws/first HTTP/1.1\r\nHost: x\r\n\r\n${upgrade}`)
  t.match(await client.response(), { status: 200, body: 'ordinary' })
  t.match(await client.readUntil('\r\n\r\n'), /^HTTP\/1\.1 101 /)
  t.equal(backend.upgrades.length, 1)
  client.close()
})

t.test('an upgrade to an unreachable backend is 502', async (t) => {
  const routes = [{ name: 'ws', path: '/ws', upstream: 'backend', auth: 'none', websocket: true }]
  const gateway = await startGateway(t, { config: { routes } })
  const response = await ask(t, gateway.url, 'GET /ws', upgradeLines)
  assertProblem(t, response, { status: 502, code: 'upstream-unreachable' })
})

t.test('a client that disconnects cancels its upgrade, before and after the backend answers', async (t) => {
  let socket: Socket | undefined
  const url = await startRawBackend(t, (opened) => {
    opened.once('data', () => {
      socket = opened.resume()
    })
  })
  const routes = [{ name: 'ws', path: '/ws', upstream: 'backend', auth: 'none', websocket: true }]
  const gateway = await startGateway(t, { backend: url, config: { routes } })
  for (const answer of [
    '',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  ]) {
    socket = undefined
    const client = await connectRaw(t, gateway.url)
    client.send(`GET /ws HTTP/1.1\r\nHost: x\r\n${upgradeLines.join('\r\n')}\r\n\r\n`)
    const opened: Socket = await until('the backend has it', () => socket)
    client.close()
    opened.write(answer)
    const isClosed = await until('the backend connection is closed', () => opened.closed, 3_000).catch(
      () => false,
    )
    t.ok(isClosed, answer === '' ? 'before' : 'after')
  }
})
