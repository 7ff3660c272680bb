import t from 'tap'
import { encodeHighBytes } from '#http/server/request-line.ts'
import { createLog } from '#platform/log/log.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { accessTokenPath, ask, askJson } from './support/ask.ts'

type Line = Readonly<Record<string, unknown>>

/** The request lines so far, once there are as many as are expected. */
function requestLines({ logLines }: TestGateway, count: number, withinMs = 10_000): Promise<Line[]> {
  return until(
    'the requests are logged',
    () => {
      const lines = logLines.map((line): Line => JSON.parse(line)).filter(({ msg }) => msg === 'request')
      return lines.length >= count ? lines : undefined
    },
    withinMs,
  )
}

t.test('each request logs one JSON line with its outcome', async (t) => {
  const gateway = await startBoth(t)
  const { account, secretKey } = await gateway.createAccount()
  const expected: Line[] = []
  for (const [line, headers, said] of [
    [
      'GET /key/a?b=c',
      [`SecretKey: ${secretKey}`],
      { route: 'key', status: 200, scheme: 'secretKey', accountId: account.id, upstream: 'backend' },
    ],
    ['GET /public', [], { route: 'public', status: 200 }],
    ['POST /any', [], { route: 'any', status: 401, code: 'credentials-missing' }],
    ['GET /nowhere', [], { route: '_unmatched', status: 404, code: 'route-not-found' }],
    ['GET /a//b', [], { route: '_unmatched', status: 400, code: 'path-ambiguous' }],
    [`PUT ${accessTokenPath}`, [], { route: '_gateway', status: 405, code: 'method-not-allowed' }],
    ['TRACE /public', [], { status: 405, code: 'method-not-allowed' }],
  ] as const) {
    await ask(t, gateway.url, line, [...headers])
    const [method, path] = line.split(/[ ?]/)
    expected.push({ method, path, client: '127.0.0.1', level: 'info', ...said })
    const lines = await requestLines(gateway, expected.length)
    t.equal(lines.length, expected.length, 'one line a request')
    t.match(lines.at(-1), expected.at(-1))
    t.match(lines.at(-1), { requestId: /^[\da-f-]{36}$/, durationMs: Number, time: /^\d{4}-\d\d-\d\dT.*Z$/ })
  }
  t.ok(gateway.logLines.every((line) => line.endsWith('\n') && line.indexOf('\n') === line.length - 1))
})

t.test('a malformed request is logged, too', async (t) => {
  const gateway = await startGateway(t)
  for (const [sent, status] of [
    ['no HTTP at all\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
  ] as const) {
    const client = await connectRaw(t, gateway.url)
    client.send(sent)
    t.equal((await client.response()).status, status)
  }
  const lines = await requestLines(gateway, 3, 2_000).catch(() => [])
  t.strictSame(
    lines.map(({ status }) => status),
    [400, 431, 405],
  )
})

t.test('a client that disconnects is logged as 499, a truncated answer as incomplete', async (t) => {
  const { backend, gateway } = await startBoth(t, {
    answer: (request, response) => {
      if (request.url === '/public/half')
        response.writeHead(200, { 'Content-Length': 9 }).write('half', () => response.destroy())
    },
  })
  const client = await connectRaw(t, gateway.url)
  client.send('GET /public/held HTTP/1.1\r\nHost: x\r\n\r\n')
  await until('the backend has it', () => backend.seen.length > 0)
  client.close()
  t.match((await requestLines(gateway, 1)).at(-1), { status: 499, path: '/public/held', isComplete: false })
  await t.rejects(ask(t, gateway.url, 'GET /public/half'))
  t.match((await requestLines(gateway, 2)).at(-1), { status: 200, path: '/public/half', isComplete: false })
})

t.test('a backend failure is logged with its cause, which the client never sees', async (t) => {
  const gateway = await startGateway(t)
  const response = await ask(t, gateway.url, 'GET /public')
  t.notMatch(response.body, 'ECONNREFUSED')
  const [line] = await requestLines(gateway, 1)
  t.match(line, { status: 502, code: 'upstream-unreachable', reason: /ECONNREFUSED/, upstream: 'backend' })
})

t.test('log.access: false omits request lines, log.level everything below it', async (t) => {
  const { backend, gateway: quiet } = await startBoth(t, { config: { log: { access: false } } })
  t.equal((await ask(t, quiet.url, 'GET /public')).status, 200)
  await quiet.shutDown()
  t.notOk(quiet.logLines.some((line) => line.includes('"request"')))
  const silent = await startGateway(t, { backend: backend.url, config: { log: { level: 'silent' } } })
  await askJson(t, silent.url, accessTokenPath, {})
  await silent.shutDown()
  t.strictSame(silent.logLines, [])
})

t.test('client input is escaped in the log, and cannot break a line', async (t) => {
  const gateway = await startBoth(t, { config: { trustedProxies: ['127.0.0.1/32'] } })
  const paths = [
    '/public/"',
    '/public/","status":1,"',
    "/public/'{}",
    '/public/\xe9\xff\x85',
    '/public/\\',
    '/public/\x7f\x01',
  ]
  for (const [index, path] of paths.entries()) {
    const client = await connectRaw(t, gateway.url)
    client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: a"b\\c${index}\r\n\r\n`)
    await client.response()
    client.close()
  }
  const lines = await requestLines(gateway, paths.length)
  t.strictSame(
    lines.map(({ path, requestId }) => ({ path, requestId })),
    paths.map((path, index) => ({ path: encodeHighBytes(path), requestId: `a"b\\c${index}` })),
  )
  t.ok(gateway.logLines.every((line) => line.indexOf('\n') === line.length - 1))
})

t.test('log.level above info omits request lines', async (t) => {
  const gateway = await startBoth(t, { config: { log: { level: 'warn' } } })
  t.equal((await ask(t, gateway.url, 'GET /public')).status, 200)
  await gateway.shutDown()
  t.strictSame(
    gateway.logLines.filter((line) => line.includes('"request"')),
    [],
  )
})

t.test('with several workers each log line names its worker after the time', async (t) => {
  const lines: string[] = []
  const log = createLog({ level: 'info', worker: 3, stream: { write: (line) => void lines.push(line) } })
  const before = Date.now()
  log.line('"a":1,', 'request')
  log.info({ a: 1 }, 'request')
  const after = Date.now()
  const written = lines.map((line) => JSON.parse(line))
  for (const { time, ...rest } of written) {
    t.strictSame(Object.entries(rest), Object.entries({ level: 'info', worker: 3, a: 1, msg: 'request' }))
    t.equal(new Date(time).toISOString(), time)
    t.ok(Date.parse(time) >= before && Date.parse(time) <= after)
  }
  t.equal(written.length, 2)
})
