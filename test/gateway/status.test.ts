import { renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import type { Status } from '#ops/status/status.ts'
import { findBarriers } from '../portal/support/axe.ts'
import { startBoth } from '../setup/both.ts'
import { startChromium } from '../setup/chromium.ts'
import type { TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { accessTokenPath, ask, askJson } from './support/ask.ts'
import { readMetrics } from './support/metrics.ts'
import { reloadWith } from './support/reload.ts'

async function look({ opsUrl }: Pick<TestGateway, 'opsUrl'>): Promise<Status> {
  return (await (await fetch(`${opsUrl}/status?json`)).json()) as Status
}

const routes = [
  { name: 'orders', path: '/orders', upstream: 'backend', auth: 'secretKey' },
  { name: 'never', path: '/never', upstream: 'backend', auth: 'none' },
  { name: 'failing', path: '/failing', upstream: 'backend', auth: 'none' },
]

async function start(t: Test, clock?: () => number) {
  const { backend, gateway } = await startBoth(t, {
    answer: (request, response) => {
      response.statusCode = request.url?.startsWith('/failing')
        ? 503
        : request.url?.includes('lost')
          ? 404
          : 200
      response.end('ok')
    },
    config: { routes },
    ...(clock && { clock }),
  })
  const account = await gateway.createAccount()
  return { backend, gateway, account, key: `SecretKey: ${account.secretKey}` }
}

/** Waits until this many requests are counted: a client may see a response a moment before it is counted. */
function untilCounted(gateway: TestGateway, requests: number): Promise<Status> {
  return until('they are counted', async () => {
    const status = await look(gateway)
    return status.sinceStart.requests === requests ? status : undefined
  })
}

t.test('the status page counts requests route by route', async (t) => {
  const { backend, gateway, account, key } = await start(t)
  const pair = { SecretKey: account.secretKey, APIKey: account.apiKey }
  await askJson(t, gateway.url, accessTokenPath, pair)
  for (const [line, headers] of [
    ['GET /orders', [key]],
    ['GET /orders', [key]],
    ['GET /orders/lost', [key]],
    ['GET /orders', []],
    ['GET /orders', ['SecretKey: gate_sk_wrong']],
    ['GET /failing', []],
    ['GET /nowhere', []],
  ] as const) {
    await ask(t, gateway.url, line, [...headers])
  }
  const status = await untilCounted(gateway, 8)
  t.match(status, { status: 'ok', workers: 1, inFlight: 0, webSocketsOpen: 0, lastReloadSuccessful: true })
  t.match(status.version, /^\d/)
  t.match(status.store, { driver: 'sqlite', isUp: true })
  const { sinceStart } = status
  t.match(sinceStart, {
    requests: 8,
    refused: 2,
    clientErrors: 2,
    failed: 1,
    tokensIssued: 1,
    rateLimited: 0,
  })
  const of = (name: string) => sinceStart.routes.find((route) => route.name === name)
  t.match(of('orders'), { requests: 5, refused: 2, clientErrors: 1, failed: 0 })
  t.match(of('failing'), { requests: 1, refused: 0, clientErrors: 0, failed: 1 })
  t.match(of('never'), { requests: 0, latencyMs: null }, 'a route that nobody called is there too')
  t.match(of('_unmatched'), { requests: 1, clientErrors: 1 })
  t.match(of('_gateway'), { requests: 1 })
  const { p50 = 0, p95 = 0, p99 = 0 } = of('orders')?.latencyMs ?? {}
  t.ok(p50 > 0 && p50 <= p95 && p95 <= p99 && p99 <= 30_000, `${p50} ${p95} ${p99}`)
  t.strictSame(
    sinceStart.refusals.toSorted((a, b) => (a.code < b.code ? -1 : 1)),
    [
      { scheme: 'none', code: 'credentials-missing', count: 1 },
      { scheme: 'secretKey', code: 'secret-key-invalid', count: 1 },
    ],
  )
  t.match(sinceStart.upstreams, [{ name: 'backend', requests: 4 }])
  t.match(sinceStart.cache, { misses: 1, hits: 2 })
  t.match(status.upstreams, [{ name: 'backend', targets: [{ url: backend.url, weight: 1 }] }])
  const text = JSON.stringify(status)
  t.notMatch(text, /gate_sk_|gate_ak_|eyJ|example\.com|wrong|lost/, 'no key, user or path')
})

t.test('the status page has the last minute at its first view', async (t) => {
  let now = Date.now()
  const { gateway, key } = await start(t, () => now)
  for (let turn = 0; turn < 3; turn++) await ask(t, gateway.url, 'GET /orders', [key])
  // Counted on /metrics: a look at the status would take a sample.
  await until('they are counted', async () => {
    return (await readMetrics(gateway.opsUrl)).value('gatehouse_http_requests_total') === 3 || undefined
  })
  now += 10_000
  const { recent } = await look(gateway)
  t.match(recent, { seconds: 10, requests: 3, upstreams: [{ name: 'backend', requests: 3 }] })
  t.equal(recent?.routes.find(({ name }) => name === 'orders')?.requests, 3)
  for (let turn = 0; turn < 20; turn++) {
    now += 15_000
    await look(gateway)
  }
  const later = await look(gateway)
  t.ok(later.recent && later.recent.seconds > 30 && later.recent.seconds <= 60, String(later.recent?.seconds))
  t.match(later.recent, { requests: 0, latencyMs: null }, 'what came before is over')
  t.equal(later.sinceStart.requests, 3)
})

t.test('the status page keeps the last hour, unwatched and through a reload', async (t) => {
  let now = Date.now()
  const limited = { ...routes[0], rateLimit: { limit: 2, per: '1h' } }
  const config = { routes: [limited, ...routes.slice(1)], limits: { failures: { limit: 1, per: '1h' } } }
  const gateway = await startBoth(t, { config, clock: () => now })
  const { secretKey, apiKey } = await gateway.createAccount()
  for (let turn = 0; turn < 4; turn++) await ask(t, gateway.url, 'GET /orders', [`SecretKey: ${secretKey}`])
  for (let turn = 0; turn < 3; turn++) await ask(t, gateway.url, 'GET /orders', ['SecretKey: gate_sk_wrong'])
  await until('they are counted', async () => {
    return (await readMetrics(gateway.opsUrl)).value('gatehouse_http_requests_total') === 7 || undefined
  })
  now += 15_000
  const { series, sinceStart } = await look(gateway)
  t.match(series, [
    {
      at: new Date(now).toISOString(),
      seconds: 15,
      requests: 7,
      failed: 0,
      refusals: { 'rate-limited': 2, 'secret-key-invalid': 1, 'too-many-failures': 2 },
      overheadMs: { p50: Number, p99: Number },
    },
  ])
  const refused = Object.fromEntries(sinceStart.refusals.map(({ code, count }) => [code, count]))
  t.strictSame(refused, { 'rate-limited': 2, 'secret-key-invalid': 1, 'too-many-failures': 2 })
  const { value } = await readMetrics(gateway.opsUrl)
  const decisions = 'gatehouse_auth_decisions_total'
  t.equal(value(decisions), 7, 'each request is counted once')
  t.equal(value(decisions, { outcome: 'allowed' }), 2)
  t.equal(value(decisions, { reason: 'rate-limited', scheme: 'secretKey' }), 2)
  t.equal(value(decisions, { reason: 'too-many-failures' }), 2)
  await reloadWith(gateway, { log: { level: 'warn' } })
  now += 15_000
  t.equal((await look(gateway)).series.length, 2)
  t.notMatch(JSON.stringify((await look(gateway)).series), secretKey.slice(0, 12))
  t.ok(apiKey)
})

t.test("the status page's last hour covers all workers", async (t) => {
  const gateway = await startBoth(t, {
    config: { routes, listen: { port: 0, workers: 2 }, log: { level: 'silent' } },
  })
  const before = await look(gateway)
  t.match(before, { workers: 2, recent: { requests: 0 } })
  for (let turn = 0; turn < 20; turn++) await ask(t, gateway.url, 'GET /never', [])
  const status = await until('all are in the last minute', async () => {
    const seen = await look(gateway)
    return seen.recent?.requests === 20 ? seen : undefined
  })
  t.equal(status.recent?.routes.find(({ name }) => name === 'never')?.requests, 20)
})

t.test('the status page names what is degraded', async (t) => {
  const { gateway } = await start(t)
  await reloadWith(gateway, { nothingOfTheKind: 1 })
  t.equal((await look(gateway)).lastReloadSuccessful, false)
  await reloadWith(gateway, { nothingOfTheKind: undefined, routes: routes.slice(0, 1) })
  const status = await look(gateway)
  t.equal(status.lastReloadSuccessful, true)
  t.strictSame(
    status.sinceStart.routes.map(({ name }) => name),
    ['orders'],
    'the routes of the current config',
  )
})

t.test('the status page loads nothing but its own file', async (t) => {
  const { gateway } = await start(t)
  const response = await ask(t, gateway.opsUrl, 'GET /status')
  t.equal(response.status, 200)
  t.match(response.headers, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; /,
  })
  t.notMatch(response.headers['content-security-policy'], /unsafe|https?:|\*/)
  t.notMatch(response.body, /(?:src|href)="(?!#|data:)/, 'it asks for nothing else')
  t.equal((await ask(t, gateway.opsUrl, 'HEAD /status')).status, 200)
  t.equal((await ask(t, gateway.url, 'GET /status')).status, 404, 'and is not for clients')
})

t.test('the status page updates itself, is accessible, and says when the gateway is gone', async (t) => {
  const { gateway, key } = await start(t)
  await ask(t, gateway.url, 'GET /orders', [key])
  const browser = await startChromium(t)
  const page = await browser.newPage({ viewport: { width: 375, height: 740 } })
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  await until('it is counted', async () => {
    const { value } = await readMetrics(gateway.opsUrl)
    return value('gatehouse_http_requests_total') === 1 || undefined
  })
  await page.clock.install()
  await page.goto(`${gateway.opsUrl}/status`)
  const row = page.locator('tr', { hasText: 'orders' }).first()
  t.equal(await row.locator('[data-label=Requests]').innerText(), '1')
  const width = Number(await page.evaluate('document.documentElement.scrollWidth'))
  t.ok(width <= 375, `${width} pixels: nothing stands out on a phone`)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    t.strictSame(await findBarriers(page), [], colorScheme)
  }
  for (let turn = 0; turn < 4; turn++) await ask(t, gateway.url, 'GET /orders', [key])
  await untilCounted(gateway, 5)
  await page.clock.runFor(5_000)
  await row.locator('[data-label=Requests]', { hasText: '5' }).waitFor()
  await page.getByText(/^Last \d+ s, as of/).waitFor()
  t.strictSame(complaints, [])
  await gateway.shutDown()
  await page.clock.runFor(5_000)
  await page.getByText('is not responding').waitFor()
})

t.test('the status page fits a phone, and an opened section stays open', async (t) => {
  let now = Date.now()
  const { gateway, key } = await start(t, () => now)
  for (let turn = 0; turn < 3; turn++) {
    await ask(t, gateway.url, 'GET /orders', turn === 1 ? [key] : [])
    now += 15_000
    await look(gateway)
  }
  // The store is out of reach from now on.
  const file = join(dirname(gateway.configFile), 'gatehouse.db')
  renameSync(file, `${file}.aside`)
  await until('it is degraded', async () => (await look(gateway)).status === 'degraded' || undefined)
  const browser = await startChromium(t)
  const page = await browser.newPage({ viewport: { width: 360, height: 740 } })
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  await page.clock.install()
  await page.goto(`${gateway.opsUrl}/status`)
  await page.getByText('Credential store unavailable').waitFor()
  t.equal(await page.getByRole('img', { name: 'Requests per second' }).count(), 1)
  await page.getByText('Last hour as a table').click()
  await page.locator('#numbers').evaluate((element) => element.setAttribute('data-before', ''))
  await page.clock.runFor(5_000)
  await page.locator('#numbers:not([data-before])').waitFor()
  t.equal(await page.locator('#numbers[open]').count(), 1)
  t.equal(await page.evaluate('document.activeElement.tagName'), 'SUMMARY', 'and keeps the focus')
  const width = Number(await page.evaluate('document.documentElement.scrollWidth'))
  t.ok(width <= 360, `${width} pixels`)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    t.strictSame(await findBarriers(page), [], colorScheme)
  }
  t.strictSame(complaints, [], 'nothing that the policy forbids')
})
