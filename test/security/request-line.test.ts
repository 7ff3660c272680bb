import t, { type Test } from 'tap'
import { connectProxy, headOf } from '../gateway/forward/proxies.ts'
import { accessTokenPath, ask, jwksPath } from '../gateway/support/ask.ts'
import { readMetrics } from '../gateway/support/metrics.ts'
import { assertProblem } from '../gateway/support/problem.ts'
import { answerOf, startHeadBackend } from '../http/outgoing/backends.ts'
import { startBoth } from '../setup/both.ts'
import { connectRaw } from '../setup/raw-client.ts'

async function start(t: Test) {
  const route = { upstream: 'backend', auth: 'none' }
  const routes = [
    { ...route, name: 'public', path: '/public', websocket: true },
    { ...route, name: 'reads', path: '/reads', methods: ['GET'] },
    { ...route, name: 'twice-get', path: '/twice', methods: ['GET'] },
    { ...route, name: 'twice-put', path: '/twice', methods: ['PUT'] },
  ]
  return startBoth(t, { config: { routes } })
}

t.test('any method, even an unknown one, passes a route that takes all', async (t) => {
  const heads = await startHeadBackend(t, ({ socket }) => socket.write(answerOf('ok')))
  const passing = await connectProxy(t, heads.url)
  const { gateway } = await start(t)
  const client = await connectRaw(t, gateway.url)
  for (const method of ['QUERY', 'FOO', 'get', 'M-SEARCHED', '!']) {
    passing.send(`${headOf(`${method} /x HTTP/1.1`, 'Content-Length: 4')}body`)
    t.equal((await passing.response()).body, 'ok')
    t.match(heads.heads.at(-1), { method, path: '/x' })
    client.send(`${method} /reads HTTP/1.1\r\nHost: x\r\n\r\n`)
    const response = await client.response()
    assertProblem(t, response, { status: 405, code: 'method-not-allowed' })
    t.equal(response.headers.allow, 'GET, HEAD', method)
  }
})

t.test('an unknown method on an own path is 405 with Allow', async (t) => {
  const { backend, gateway } = await start(t)
  for (const method of ['FOO', 'QUERY', 'post', 'TRACE']) {
    for (const [path, allow] of [
      [accessTokenPath, 'POST'],
      [jwksPath, 'GET, HEAD'],
    ] as const) {
      const response = await ask(t, gateway.url, `${method} ${path}`)
      assertProblem(t, response, { status: 405, code: 'method-not-allowed' })
      t.equal(response.headers.allow, allow, `${method} ${path}`)
    }
  }
  t.equal(backend.seen.length, 0)
})

t.test("TRACE and CONNECT are 405 with the path's Allow", async (t) => {
  const { backend, gateway } = await start(t)
  const any = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT'
  for (const [line, allow] of [
    ['TRACE /public', any],
    ['CONNECT /public', any],
    ['TRACE /reads', 'GET, HEAD'],
    ['TRACE /twice', 'GET, HEAD, PUT'],
  ] as const) {
    const response = await ask(t, gateway.url, line)
    assertProblem(t, response, { status: 405, code: 'method-not-allowed' })
    t.equal(response.headers.allow, allow, line)
  }
  t.equal(backend.seen.length, 0)
})

t.test('unknown methods create no metric label values', async (t) => {
  const { gateway } = await start(t)
  for (let index = 0; index < 20; index++) await ask(t, gateway.url, `MADE-UP-${index} /reads`)
  const { samples } = await readMetrics(gateway.opsUrl)
  const labels = samples
    .filter(({ name }) => name === 'gatehouse_http_requests_total')
    .map(({ labels: { method } }) => method)
  t.strictSame([...new Set(labels)], ['other'])
})

t.test('a 405 is counted with its route if there is only one', async (t) => {
  const { gateway } = await start(t)
  await ask(t, gateway.url, 'POST /reads')
  await ask(t, gateway.url, 'POST /twice')
  const metrics = await readMetrics(gateway.opsUrl)
  const count = (route: string) => metrics.value('gatehouse_http_requests_total', { route, code: '405' })
  t.equal(count('reads'), 1)
  t.equal(count('_unmatched'), 1)
})

t.test('a control character in a path makes it ambiguous, encoded or not', async (t) => {
  const { backend, gateway } = await start(t)
  for (const target of [
    '/public/\x01',
    '/public\t',
    '/public/\x7f',
    '/public/\0',
    '/public?\x02',
    '/public/%01',
  ]) {
    const response = await ask(t, gateway.url, `GET ${target}`)
    assertProblem(t, response, { status: 400, code: 'path-ambiguous' })
  }
  t.equal(backend.seen.length, 0)
})

t.test('other versions of HTTP are refused', async (t) => {
  const { backend, gateway } = await start(t)
  for (const version of ['HTTP/2.0', 'HTTP/0.9', 'HTTP/1.2', 'HTTP/3', 'http/1.1', 'HTTPS/1.1']) {
    const client = await connectRaw(t, gateway.url)
    client.send(`GET /public ${version}\r\nHost: x\r\n\r\n`)
    const response = await client.response()
    assertProblem(t, response, { status: 400, code: 'request-invalid' })
    t.match(response.json().errors, [{ field: 'request-line', message: String }], version)
    await client.ended()
  }
  t.equal(backend.seen.length, 0)
})

t.test('the error for a malformed request names what is wrong', async (t) => {
  const { gateway } = await start(t)
  for (const [lines, field] of [
    ['Host: x\r\nContent-Length: 1\r\nContent-Length: 1', 'Content-Length'],
    ['Host: x\r\nTransfer-Encoding: gzip', 'Transfer-Encoding'],
    ['Host: x\r\nX : y', 'field-line'],
    ['Host: x\r\nHost: y', 'Host'],
    ['X: y', 'Host'],
    ['Host: a b', 'Host'],
  ] as const) {
    const client = await connectRaw(t, gateway.url)
    client.send(`GET /public HTTP/1.1\r\n${lines}\r\n\r\n`)
    const response = await client.response()
    assertProblem(t, response, { status: 400, code: 'request-invalid' })
    t.match(response.json().errors, [{ field, message: String }], lines)
    client.close()
  }
})

t.test('a request behind an ignored Upgrade gets its own answer', async (t) => {
  const { backend, gateway } = await start(t)
  const client = await connectRaw(t, gateway.url)
  const head = (path: string, ...lines: readonly string[]) =>
    `${[`GET ${path} HTTP/1.1`, 'Host: x', ...lines].join('\r\n')}\r\n\r\n`
  for (const upgrade of ['h2c', 'websocket', 'TLS/1.0']) {
    backend.seen.length = 0
    const lines = ['Connection: Upgrade', `Upgrade: ${upgrade}`]
    client.send(head('/reads/1', ...lines) + head('/reads/2') + head('/reads/3', ...lines) + head('/nowhere'))
    const statuses: number[] = []
    for (let turn = 0; turn < 4; turn++) statuses.push((await client.response()).status)
    t.strictSame(statuses, [200, 200, 200, 404], upgrade)
    t.strictSame(
      backend.seen.map(({ url }) => url),
      ['/reads/1', '/reads/2', '/reads/3'],
    )
  }
})
