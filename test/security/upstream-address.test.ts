import t from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { startBackend, startCannedBackend, startRawBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { freePort } from '../setup/net.ts'

const timeouts = { connect: '200ms', response: '200ms', idle: '200ms' }

t.test("no answer of the gateway reveals a backend's address or failure", async (t) => {
  const ports = { refused: await freePort() }
  const urls: Readonly<Record<string, string>> = {
    refused: `http://127.0.0.1:${ports.refused}`,
    unknown: 'http://secret-name.internal.invalid:4711',
    silent: await startRawBackend(t, () => {}),
    closes: await startRawBackend(t, (socket) => socket.on('data', () => socket.destroy())),
    garbage: await startCannedBackend(t, 'GARBAGE from 10.1.2.3\r\n\r\n'),
    tls: (await startBackend(t)).url.replace('http:', 'https:'),
    works: (await startBackend(t)).url,
  }
  const gateway = await startGateway(t, {
    config: {
      upstreams: Object.fromEntries(
        Object.entries(urls).map(([name, url]) => [
          `inner-${name}`,
          { targets: [{ url }], timeouts, host: 'target' },
        ]),
      ),
      routes: Object.keys(urls).flatMap((name) => [
        { name: `route-${name}`, path: `/${name}`, upstream: `inner-${name}`, auth: 'none', websocket: true },
        {
          name: `guarded-${name}`,
          path: `/guarded/${name}`,
          upstream: `inner-${name}`,
          auth: 'any',
          methods: ['GET'],
        },
      ]),
    },
  })
  for (const [name, url] of Object.entries(urls)) {
    for (const [line, headers] of [
      [`GET /${name}`, []],
      [`POST /${name}`, ['Content-Length: 1', '', 'x']],
      [`GET /${name}`, ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']],
      [`GET /guarded/${name}`, []],
      [`DELETE /guarded/${name}`, []],
      [`GET /${name}/../x`, []],
      [`GET /${name}`, ['Host: a b']],
    ] as const) {
      const { status, head, body } = await ask(t, gateway.url, line, [...headers])
      const text = `${head}\n${body}`
      if (name === 'works' && status < 400) continue
      const { port, hostname } = new URL(url)
      t.ok(status >= 400, line)
      for (const secret of [
        `:${port}`,
        hostname,
        'inner-',
        'route-',
        'ECONN',
        'ENOTFOUND',
        'GARBAGE',
        '10.1.2.3',
      ])
        t.notOk(text.includes(secret), `${secret} in the answer to ${line}`)
    }
  }
})

t.test("a backend's own address in Location is replaced by the public one", async (t) => {
  const backend = await startBackend(t, (request, response) => {
    const own = `http://${request.headers.host}`
    response.writeHead(201, { Location: `${own}/made?x=1`, 'Content-Location': own }).end()
  })
  const upstreams = { backend: { targets: [{ url: backend.url }], host: 'target' } }
  const gateway = await startGateway(t, { config: { upstreams } })
  const { headers } = await ask(t, gateway.url, 'GET /public')
  t.equal(headers.location, 'http://gateway.test/made?x=1')
  t.equal(headers['content-location'], 'http://gateway.test')
  const other = await startCannedBackend(
    t,
    'HTTP/1.1 302 Found\r\nLocation: https://elsewhere.example/x\r\nContent-Length: 0\r\n\r\n',
  )
  const gatewayOfOther = await startGateway(t, { backend: other })
  const elsewhere = await ask(t, gatewayOfOther.url, 'GET /public')
  t.equal(elsewhere.headers.location, 'https://elsewhere.example/x', 'another place is another place')
})
