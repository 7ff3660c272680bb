import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { atOnce, serveFleet, untilAllAnswer } from '../../runtime/fleet/fleet.ts'
import { startBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { readMetrics } from '../support/metrics.ts'
import { reloadWith, taken } from '../support/reload.ts'
import { nginx } from './proxies/nginx.ts'
import { startProxy } from './proxies/run-proxy.ts'
import { askDecision, describing, startDecideGateway } from './support.ts'

const question = (uri: string) =>
  `GET /decide HTTP/1.1\r\nHost: gatehouse\r\n${describing({ uri }).join('\r\n')}\r\n\r\n`

/** Asks again and again on connections that are kept, until a response says that it is the last, or it is stopped. */
function askUnderLoad(t: Test, url: string, uri: string) {
  const statuses = new Map<number, number>()
  let isOver = false
  const clients = Array.from({ length: 8 }, async () => {
    const client = await connectRaw(t, url)
    while (!isOver) {
      const { status, headers } = await client.send(question(uri)).response()
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (headers.connection === 'close') return client.ended()
    }
    return undefined
  })
  const stop = async () => {
    isOver = true
    await Promise.all(clients)
  }
  return { statuses, stop }
}

const config = { decide: { port: 0 }, trustedProxies: ['127.0.0.1'] }

t.test(
  'several workers decide on one port, which the ready file names, and SIGTERM fails no decision',
  async (t) => {
    const fleet = await serveFleet(t, { config })
    const { decideUrl } = JSON.parse(readFileSync(fleet.readyFile, 'utf8')) as { readonly decideUrl: string }
    await untilAllAnswer(fleet)
    await until('both decide', async () => {
      await atOnce(() => askDecision(t, { decideUrl }, { uri: '/x' }))
      const decided = fleet.lines().filter(({ listener }) => listener === 'decide')
      return new Set(decided.map(({ worker }) => worker)).size === 2 || undefined
    })
    const { statuses, stop } = askUnderLoad(t, decideUrl, '/x')
    await until('they are at it', () => (statuses.get(200) ?? 0) > 200 || undefined)
    fleet.child.kill('SIGTERM')
    await stop()
    t.strictSame([...statuses.keys()], [200])
    t.equal((await fleet.ended).status, 0)
  },
)

t.test('a worker that is killed is replaced by one that decides, on the same port', async (t) => {
  const backend = await startBackend(t)
  const fleet = await serveFleet(t, { config })
  const { decideUrl } = JSON.parse(readFileSync(fleet.readyFile, 'utf8')) as { readonly decideUrl: string }
  const proxy = await startProxy(t, nginx, { gatehouse: fleet.url, decide: decideUrl, backend: backend.url })
  const status = async () => (await fetch(`${proxy.url}/x`)).status
  t.equal(await status(), 200)
  const [pid = 0] = fleet.pids()
  process.kill(pid, 'SIGKILL')
  await until('it is replaced', () => fleet.pids().length === 3 || undefined)
  t.strictSame([...new Set(await atOnce(status))], [200])
})

t.test('a reload under load fails no decision, and changes what is decided', async (t) => {
  const gateway = await startDecideGateway(t)
  const { statuses, stop } = askUnderLoad(t, gateway.decideUrl, '/public')
  const route = { name: 'public', path: '/public', auth: 'none' }
  for (let round = 0; round < 12; round++) {
    const before = statuses.get(200) ?? 0
    const routes = [route, { name: `r${round}`, path: `/r${round}`, auth: 'none' }]
    t.match(await reloadWith(gateway, { ...config, routes }), taken)
    t.equal((await askDecision(t, gateway, { uri: `/r${round}` })).status, 200)
    await until('they go on', () => (statuses.get(200) ?? 0) >= before + 20 || undefined)
  }
  await stop()
  t.strictSame([...statuses.keys()], [200])
  const refused = await reloadWith(gateway, {
    ...config,
    decide: undefined,
    routes: [{ ...route, upstream: 'backend' }],
  })
  t.match(refused, { code: 422, problems: [/decide: cannot be changed by a reload/] })
})

t.test('decisions are counted and logged as of their listener', async (t) => {
  const gateway = await startDecideGateway(t)
  const metric = 'gatehouse_http_requests_total'
  await askDecision(t, gateway, { uri: '/public' })
  await askDecision(t, gateway, { uri: '/key', path: '/decide?deny=403' })
  await askDecision(t, gateway, { uri: '/nowhere', method: 'POST', path: '/decide?deny=403' })
  await fetch(`${gateway.url}/nowhere`)
  const { value } = await readMetrics(gateway.opsUrl)
  const decided = (labels: Record<string, string>) => value(metric, { listener: 'decide', ...labels })
  t.equal(decided({ route: 'public', method: 'GET', code: '200' }), 1)
  t.equal(decided({ route: 'key', method: 'GET', code: '401' }), 1)
  t.equal(
    decided({ route: '_unmatched', method: 'POST', code: '404' }),
    1,
    'what was decided, not what was sent',
  )
  t.equal(decided({}), 3)
  const text = await (await fetch(`${gateway.opsUrl}/metrics`)).text()
  t.match(
    text,
    `${metric}{route="_unmatched",method="GET",code="404"} 1`,
    'the main listener has no such label',
  )
  t.match(text, 'gatehouse_http_request_duration_seconds_count{route="public",listener="decide"} 1')
})

t.test('the page about monitoring names every member of the line of a request', async (t) => {
  const gateway = await startDecideGateway(t)
  const { secretKey } = await gateway.createAccount()
  await askDecision(t, gateway, { uri: '/key', headers: [`SecretKey: ${secretKey}`] })
  await askDecision(t, gateway, { uri: '/public', headers: ['X_User_Id: a'] })
  const page = readFileSync('docs/operators/monitoring.md', 'utf8')
  const named = new Set([...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name))
  const lines = gateway.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
  t.equal(lines.length, 2)
  for (const { level: _, time: __, msg: ___, ...members } of lines)
    for (const name of Object.keys(members)) t.ok(named.has(name), name)
})

t.test('the status page has the figures of this listener beside those of the main one', async (t) => {
  const { url, opsUrl, decideUrl } = await startDecideGateway(t, { backend: (await startBackend(t)).url })
  const read = async () => {
    const status = (await (await fetch(`${opsUrl}/status?json`)).json()) as {
      readonly sinceStart: { readonly requests: number; readonly decide: unknown }
    }
    const page = await (await fetch(`${opsUrl}/status`, { headers: { Accept: 'text/html' } })).text()
    return { status, page }
  }
  await fetch(`${url}/public`)
  const before = await read()
  t.match(before.status, { sinceStart: { requests: 1, decide: null } })
  t.notMatch(before.page, 'Decide, for other proxies')
  await askDecision(t, { decideUrl }, { uri: '/public' })
  await askDecision(t, { decideUrl }, { uri: '/any' })
  const after = await read()
  t.match(after.status, { sinceStart: { requests: 3, decide: { requests: 2, refused: 1, failed: 0 } } })
  t.match(after.page, 'Decide, for other proxies')
})
