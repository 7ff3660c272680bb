import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { notInApp, startGateway, type TestGateway } from '../setup/gateway.ts'
import { without } from '../setup/missing-program.ts'
import { freePort, until } from '../setup/net.ts'
import { writeNginxConfig } from '../setup/nginx.ts'
import type { RawResponse } from '../setup/raw-client.ts'
import { ask } from './support/ask.ts'
import { startWebSocketBackend, upgradeLines } from './support/web-socket.ts'

/** What the backend answers, by path below the route: field lines, and a status where it is not 200. */
const answers: Readonly<Record<string, { readonly status?: number; readonly fields: readonly string[] }>> = {
  '/silent': { fields: [] },
  '/vary': { fields: ['Vary', 'Accept-Encoding', 'vary', 'authorization, SECRETKEY'] },
  '/star': { fields: ['Vary', '*'] },
  '/empty': { fields: ['Vary', ''] },
  '/public': { fields: ['Cache-Control', 'public, max-age=60'] },
  '/expires': { fields: ['Expires', 'Thu, 01 Jan 2099 00:00:00 GMT'] },
  '/pragma': { fields: ['Pragma', 'no-cache'] },
  '/hidden': { fields: ['Connection', 'vary, cache-control', 'Vary', 'X', 'Cache-Control', 'public'] },
  '/missing': { status: 404, fields: [] },
  '/unchanged': { status: 304, fields: ['ETag', '"1"', 'Vary', 'Accept'] },
  '/empty-body': { status: 204, fields: [] },
}

function startAnswers(t: Test) {
  return startBackend(t, (request, response) => {
    const path = request.url?.replace(/^\/[^/]+/, '') ?? ''
    const { status = 200, fields } = answers[path] ?? { fields: [] }
    if (path === '/early') response.writeEarlyHints({ link: '</a.css>; rel=preload' })
    response.writeHead(status, [...fields])
    response.end(status === 200 ? 'x' : undefined)
  })
}

/** Lines of one name, so that two are seen. */
function linesOf({ head }: RawResponse, start: string): readonly string[] {
  return head.split('\r\n').filter((line) => line.toLowerCase().startsWith(`${start}:`))
}

const vary = (response: RawResponse) => linesOf(response, 'vary')
const caching = (response: RawResponse) => linesOf(response, 'cache-control')

t.test(
  'a QUERY is answered by the backend each time, by its body, however public its answer is',
  async (t) => {
    const backend = await startAnswers(t)
    const gateway = await startGateway(t, { backend: backend.url })
    for (const body of ['one', 'one', 'two', undefined]) {
      const { status } = await ask(t, gateway.url, 'QUERY /public/public', ['Content-Type: text/plain'], body)
      t.equal(status, 200)
      t.match(backend.last(), { method: 'QUERY', body: body ?? '' })
    }
    t.equal(backend.seen.length, 4)
  },
)

t.test('responses to authenticated callers tell caches what they depend on', async (t) => {
  const backend = await startAnswers(t)
  const gateway = await startGateway(t, { backend: backend.url })
  const { secretKey } = await gateway.createAccount()
  const { JwtToken } = await gateway.tokens(await gateway.createAccount())
  const key = [`SecretKey: ${secretKey}`]
  const both = 'Vary: SecretKey, Authorization'
  const onlyPrivate = ['Cache-Control: private']
  const get = (path: string, headers: readonly string[] = key) => ask(t, gateway.url, `GET ${path}`, headers)

  for (const [path, headers, line] of [
    ['/key/silent', key, 'Vary: SecretKey'],
    ['/bearer/silent', [`Authorization: Bearer ${JwtToken}`], 'Vary: Authorization'],
    ['/any/silent', key, both],
    ['/optional/silent', key, both],
    ['/any/empty', key, both],
    ['/any/missing', key, both],
    ['/any/empty-body', key, both],
  ] as const) {
    const response = await get(path, headers)
    t.strictSame(vary(response), [line], path)
    t.strictSame(caching(response), onlyPrivate, path)
  }
  for (const method of ['HEAD', 'POST', 'DELETE', 'QUERY']) {
    const response = await ask(t, gateway.url, `${method} /any/silent`, key)
    t.strictSame([vary(response), caching(response)], [[both], onlyPrivate], method)
  }

  t.strictSame(vary(await get('/any/vary')), ['Vary: Accept-Encoding, authorization, SECRETKEY'])
  t.strictSame(vary(await get('/key/vary')), ['Vary: Accept-Encoding, authorization, SECRETKEY'])
  t.strictSame(vary(await get('/any/star')), ['Vary: *'])
  t.strictSame(vary(await get('/any/hidden')), [both], 'what is hop-by-hop says nothing')
  t.strictSame(caching(await get('/any/hidden')), onlyPrivate)
  t.strictSame(vary(await get('/any/unchanged')), ['Vary: Accept, SecretKey, Authorization'], 'a 304 too')

  t.strictSame(caching(await get('/any/public')), ['Cache-Control: public, max-age=60'])
  t.strictSame(vary(await get('/any/public')), [both])
  for (const path of ['/any/expires', '/any/pragma']) {
    const response = await get(path)
    t.strictSame([vary(response), caching(response)], [[both], []], `${path}: the backend has said it`)
  }

  const anonymous = await get('/optional/silent', [])
  t.strictSame([vary(anonymous), caching(anonymous)], [[both], []], 'a keyed request gets another response')
  for (const [path, expected] of [
    ['/public/silent', []],
    ['/public/vary', ['Vary: Accept-Encoding', 'vary: authorization, SECRETKEY']],
  ] as const) {
    const response = await get(path)
    t.strictSame([vary(response), caching(response)], [expected, []], `${path}: a public route`)
  }

  const refused = await get('/any/silent', [])
  t.strictSame(caching(refused), ['Cache-Control: no-store'])
})

t.test('Vary names every place that keys.accept and CORS name, once', async (t) => {
  const backend = await startAnswers(t)
  const ways = {
    'X-API-Key, bearer': 'X-API-Key, Authorization',
    'SecretKey, basic': 'SecretKey, Authorization',
  }
  for (const [accept, names] of Object.entries(ways)) {
    const gateway = await startGateway(t, {
      backend: backend.url,
      config: {
        keys: { sealingKey: { file: 'sealing.key' }, accept: accept.split(', ') },
        cors: { origins: ['https://app.example.com'] },
      },
    })
    const { secretKey } = await gateway.createAccount()
    const [header = ''] = accept.split(',')
    const response = await ask(t, gateway.url, 'GET /key/silent', [`${header}: ${secretKey}`])
    t.strictSame(vary(response), [`Vary: Origin, ${names}`])
  }
})

t.test('interim responses and WebSockets say nothing about caching', { skip: notInApp('103') }, async (t) => {
  const backend = await startAnswers(t)
  const sockets = await startWebSocketBackend(t)
  const gateway = await startGateway(t, {
    config: {
      upstreams: { backend: { targets: [{ url: backend.url }] }, ws: { targets: [{ url: sockets.url }] } },
      routes: [
        { name: 'key', path: '/key', upstream: 'backend', auth: 'secretKey' },
        { name: 'ws', path: '/ws', upstream: 'ws', auth: 'secretKey', websocket: true },
      ],
    },
  })
  const key = `SecretKey: ${(await gateway.createAccount()).secretKey}`
  for (const response of [
    await ask(t, gateway.url, 'GET /key/early', [key]),
    await ask(t, gateway.url, 'GET /ws', [key, ...upgradeLines]),
  ]) {
    t.ok(response.status === 103 || response.status === 101, String(response.status))
    t.strictSame([vary(response), caching(response)], [[], []])
  }
})

const noCache = notInApp('nginx') || without('nginx')

t.test('a shared cache serves no caller what another one got', { skip: noCache }, async (t) => {
  const { backend, gateway } = await startBoth(t, {
    answer: (request, response) => {
      const isShared = request.url?.endsWith('/shared') === true
      response.writeHead(200, isShared ? { 'Cache-Control': 'public, max-age=60' } : {})
      response.end(`${String(request.headers['x-user-id'])} ${backend.seen.length}`)
    },
  })
  const cache = await startCache(t, gateway)
  const [ada, eve] = [await gateway.createAccount(), await gateway.createAccount()]
  const get = async (path: string, { secretKey }: typeof ada) =>
    (await fetch(`${cache}${path}`, { headers: { SecretKey: secretKey } })).text()

  const shared = await get('/any/shared', ada)
  t.match(shared, ada.account.id)
  t.equal(await get('/any/shared', ada), shared, 'the same caller is served from the cache')
  t.match(await get('/any/shared', eve), eve.account.id)
  t.match(await get('/any/private', ada), ada.account.id)
  const count = backend.seen.length
  t.match(await get('/any/private', ada), ada.account.id)
  t.equal(backend.seen.length, count + 1, 'where the backend says nothing, nothing is stored')
  t.equal((await fetch(`${cache}/any/shared`)).status, 401, 'and nobody is served without a credential')
})

/** A real shared cache before the gateway, which keys by the URL and stores what it may. @returns its URL */
async function startCache(t: Test, { url }: TestGateway): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-cache-'))
  const port = await freePort()
  const args = writeNginxConfig(
    folder,
    `proxy_cache_path ${folder}/cache keys_zone=all:1m;
server {
  listen 127.0.0.1:${port};
  location / {
    proxy_pass ${url};
    proxy_cache all;
    # Stores what does not say how long it is fresh, as caches may (RFC 9111 4.2.2).
    proxy_cache_valid any 60s;
    proxy_cache_key $uri;
  }
}`,
  )
  const child = spawn('nginx', args, { stdio: 'ignore' })
  t.teardown(async () => {
    child.kill('SIGTERM')
    await until('nginx has ended', () => child.exitCode !== null || child.signalCode !== null, 20_000)
    rmSync(folder, { recursive: true, force: true })
  })
  const cache = `http://127.0.0.1:${port}`
  await until(
    'nginx answers',
    async () => (await fetch(cache).catch(() => undefined))?.status === 404,
    20_000,
  )
  return cache
}
