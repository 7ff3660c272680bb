import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { ask } from './support/ask.ts'
import { readMetrics } from './support/metrics.ts'
import { assertProblem } from './support/problem.ts'
import { reloadWith, taken } from './support/reload.ts'

/** A folder for sockets, gone with the test. */
function socketFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gh-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function listenAt(t: Test, server: Server, path: string): Promise<void> {
  const sockets = new Set<{ destroy(): void }>()
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(path)
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
}

/** What requests and responses of both protocols have in Node. */
interface AnyRequest extends AsyncIterable<unknown> {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly httpVersion: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}
interface AnyResponse {
  setHeader(name: string, value: string): unknown
  end(text: string): unknown
}

/** Tells what it got. */
async function tell(request: AnyRequest, response: AnyResponse) {
  let bytes = 0
  for await (const chunk of request) bytes += (chunk as Buffer).length
  const { method, url, headers } = request
  if (url === '/public/redirect') response.setHeader('Location', 'http://localhost/public/there')
  if (url === '/public/last' && request.httpVersion === '1.1') response.setHeader('Connection', 'close')
  response.end(JSON.stringify({ method, url, host: headers.host ?? headers[':authority'], bytes }))
}

for (const protocol of ['http1', 'http2'] as const) {
  t.test(`a backend at a Unix socket gets requests of ${protocol}`, async (t) => {
    const path = join(socketFolder(t), 'app.sock')
    const server = protocol === 'http1' ? createServer(tell) : createHttp2Server(tell)
    await listenAt(t, server, path)
    for (const host of ['client', 'target']) {
      const upstreams = { backend: { targets: [{ url: `unix:${path}` }], host, protocol } }
      const gateway = await startGateway(t, { config: { upstreams } })
      const seen = { host: host === 'client' ? 'gateway.test' : 'localhost' }
      // The second one goes on the same connection.
      for (const name of ['a', 'b', 'last', 'c']) {
        const { status, body } = await ask(t, gateway.url, `GET /public/${name}`)
        t.equal(status, 200)
        t.match(JSON.parse(body), { method: 'GET', url: `/public/${name}`, ...seen })
      }
      const sent = await ask(t, gateway.url, 'POST /public/x', [], 'x'.repeat(300_000))
      t.match(sent.json(), { method: 'POST', bytes: 300_000 })
      const { headers } = await ask(t, gateway.url, 'GET /public/redirect')
      t.equal(headers.location, 'http://gateway.test/public/there')
    }
  })
}

t.test('a WebSocket goes through a Unix socket, and checks do', async (t) => {
  const path = join(socketFolder(t), 'app.sock')
  const checked: string[] = []
  const server = createServer((request, response) => {
    checked.push(`${request.url} ${request.headers.host}`)
    response.end()
  })
  server.on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    socket.on('data', (data) => socket.write(data)).on('error', () => {})
  })
  await listenAt(t, server, path)
  const active = { path: '/healthz', interval: '20ms' }
  const gateway = await startGateway(t, {
    config: {
      upstreams: { backend: { targets: [{ url: `unix:${path}` }], health: { active } } },
      routes: [{ name: 'ws', path: '/ws', upstream: 'backend', auth: 'none', websocket: true }],
    },
  })
  const client = await connectRaw(t, gateway.url)
  client.send(
    'GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==\r\n\r\n',
  )
  t.match(await client.readUntil('\r\n\r\n'), / 101 /)
  // An empty Ping of a client, whose mask is 0.
  client.send(Buffer.from([0x89, 0x80, 0, 0, 0, 0]).toString('latin1'))
  t.equal((await client.readBytes(1))[0], 0x89)
  await until('a check', () => checked.includes('/healthz localhost') || undefined)
  const { samples } = await readMetrics(gateway.opsUrl)
  const named = samples.find(({ name }) => name === 'gatehouse_upstream_target_healthy')
  t.strictSame(named?.labels.target, `unix:${path}`)
})

t.test('a socket where nobody listens is 502, and the log alone names it', async (t) => {
  const folder = socketFolder(t)
  writeFileSync(join(folder, 'file'), '')
  const [missing, file] = [join(folder, 'missing.sock'), join(folder, 'file')]
  const gateway = await startGateway(t, { backend: `unix:${missing}` })
  const answer = await ask(t, gateway.url, 'GET /public/x')
  assertProblem(t, answer, { status: 502, code: 'upstream-unreachable' })
  t.notMatch(JSON.stringify([answer.headers, answer.body]), /\.sock|unix|localhost/)
  t.match(gateway.logLines.join(''), `${missing}: there is no socket at this path`)

  // The path is relative to the config file, and a reload takes another one.
  t.match(
    await reloadWith(gateway, { upstreams: { backend: { targets: [{ url: `unix:${file}` }] } } }),
    taken,
  )
  assertProblem(t, await ask(t, gateway.url, 'GET /public/x'), { status: 502, code: 'upstream-unreachable' })
  t.match(gateway.logLines.join(''), /nothing listens on this socket|this is not a socket/)
})
