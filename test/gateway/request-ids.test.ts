import t from 'tap'
import { startCannedBackend } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { connectRaw, type RawResponse } from '../setup/raw-client.ts'
import { ask, jwksPath } from './support/ask.ts'
import { startWebSocketBackend, upgradeLines } from './support/web-socket.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function requestIdsOf({ headers }: RawResponse): readonly string[] {
  return headers['x-request-id']?.split('\n') ?? []
}

const theirs = { 'X-Request-Id': 'of-the-backend' }

t.test('every answer has exactly one request ID, the one that is in the log', async (t) => {
  const origin = 'https://app.example.com'
  const gateway = await startBoth(t, {
    answer: (request, response) => {
      const status = Number(new URL(request.url ?? '', 'http://x').searchParams.get('status') ?? 200)
      response.writeHead(status, theirs).end()
    },
    config: { cors: { origins: [origin] } },
  })
  const preflight = [`Origin: ${origin}`, 'Access-Control-Request-Method: GET']
  const ids = new Set<string>()
  for (const [line, headers, status] of [
    ['GET /public', [], 200],
    ['HEAD /public', [], 200],
    ['GET /public?status=204', [], 204],
    ['GET /public?status=304', [], 304],
    ['GET /public?status=500', [], 500],
    ['GET /public', [`Origin: ${origin}`], 200],
    ['GET /key', [], 401],
    ['GET /admin/../x', [], 400],
    ['GET /nowhere', [], 404],
    ['GET /nowhere', ['Accept: text/html'], 404],
    ['TRACE /public', [], 405],
    ['GET /public', ['Bad Name: x'], 400],
    ['OPTIONS *', [], 204],
    ['OPTIONS /public', ['Max-Forwards: 0'], 204],
    ['OPTIONS /public', preflight, 204],
    ['OPTIONS /key', preflight, 204],
    ['OPTIONS /api/v1/accounts/access-token', preflight, 204],
    [`GET ${jwksPath}`, [], 200],
    [`GET ${jwksPath}`, [`Origin: ${origin}`], 200],
    [`DELETE ${jwksPath}`, [], 405],
    ['GET /api/v1/openapi.json', [], 200],
    ['GET /api/v1/admin/accounts', [], 401],
    ['POST /api/v1/accounts/access-token', [], 400],
    ['GET /portal', [], 303],
    ['GET /portal/sign-in', ['Accept: text/html'], 200],
    ['GET /portal/nothing', ['Accept: text/html'], 404],
  ] as const) {
    const response = await ask(t, gateway.url, line, headers)
    const found = requestIdsOf(response)
    t.equal(response.status, status, line)
    t.equal(found.length, 1, line)
    t.match(found[0], uuid, line)
    ids.add(found[0] ?? '')
  }
  t.equal(ids.size, 26, 'each has its own')
  await gateway.shutDown()
  const logged = new Set(gateway.logLines.map((line) => JSON.parse(line).requestId))
  t.strictSame(
    [...ids].filter((id) => !logged.has(id)),
    [],
  )
})

t.test('the answer has the request ID of a trusted proxy, and the backend gets the same', async (t) => {
  const { backend, gateway } = await startBoth(t, {
    answer: (_, response) => response.writeHead(200, theirs).end(),
    config: { trustedProxies: ['127.0.0.1'] },
  })
  for (const path of ['/public', '/key', jwksPath]) {
    const response = await ask(t, gateway.url, `GET ${path}`, ['X-Request-Id: of-the-proxy'])
    t.strictSame(requestIdsOf(response), ['of-the-proxy'], path)
  }
  t.equal(backend.last().headers['x-request-id'], 'of-the-proxy')
})

t.test('a request ID with a secret in it is not taken, even of a trusted proxy', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { trustedProxies: ['127.0.0.1'] } })
  const { secretKey } = await gateway.createAccount()
  for (const id of [secretKey, `of-${secretKey}`, secretKey.replaceAll('_', '%5F')]) {
    const response = await ask(t, gateway.url, 'GET /public', [`X-Request-Id: ${id}`])
    t.match(requestIdsOf(response)[0], uuid)
    t.match(backend.last().headers['x-request-id'], uuid)
  }
  await gateway.shutDown()
  t.notMatch(gateway.logLines.join(''), secretKey.slice(-32))
})

t.test('a refusal that repeats has the ID of each request, whatever is in it', async (t) => {
  const gateway = await startGateway(t, { config: { trustedProxies: ['127.0.0.1'] } })
  const client = await connectRaw(t, gateway.url)
  for (const id of ['a', 'b', String.raw`"\"`, '"},"status":200,{"', 'c'.repeat(128), 'd'.repeat(128), 'e']) {
    client.send(`GET /key HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\n\r\n`)
    const response = await client.response()
    t.equal(response.status, 401, id)
    t.strictSame(requestIdsOf(response), [id])
    const { requestId, code } = JSON.parse(response.body)
    t.strictSame({ requestId, code }, { requestId: id, code: 'credentials-missing' })
  }
})

t.test('the request ID is in the 101 of an upgrade', async (t) => {
  const backend = await startWebSocketBackend(t)
  const routes = [{ name: 'ws', path: '/ws', upstream: 'backend', auth: 'none', websocket: true }]
  const gateway = await startGateway(t, { backend: backend.url, config: { routes } })
  const client = await connectRaw(t, gateway.url)
  client.send(`GET /ws HTTP/1.1\r\nHost: x\r\n${upgradeLines.join('\r\n')}\r\n\r\n`)
  const head = await client.readUntil('\r\n\r\n')
  t.match(head, /^HTTP\/1\.1 101 /)
  t.match(head.match(/^x-request-id: (.*)\r$/im)?.[1], uuid)
})

t.test('an interim response has no request ID, the final one does', async (t) => {
  const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nX-Request-Id: theirs\r\n\r\n'
  const url = await startCannedBackend(t, `${hints}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`)
  const gateway = await startGateway(t, { backend: url })
  const client = await connectRaw(t, gateway.url)
  client.send('GET /public HTTP/1.1\r\nHost: x\r\n\r\n')
  t.notMatch(await client.readUntil('\r\n\r\n'), /request-id/i)
  t.match(await client.readUntil('\r\n\r\n'), /^HTTP\/1\.1 200 OK\r\n[\s\S]*X-Request-Id: [0-9a-f-]{36}\r\n/)
})
