import { rmSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { ask } from './support/ask.ts'
import { readMetrics } from './support/metrics.ts'
import { askForReload, reloadWith, rewrite, taken } from './support/reload.ts'

const route = (name: string) => ({ name, path: `/${name}`, upstream: 'backend', auth: 'none' })

t.test('a reload applies new routes, none of them before it is answered', async (t) => {
  const gateway = await startBoth(t)
  const statuses = async () =>
    Promise.all(['public', 'new'].map(async (path) => (await ask(t, gateway.url, `GET /${path}`)).status))
  rewrite(gateway.configFile, { routes: [route('new')] })
  t.strictSame(await statuses(), [200, 404], 'the file alone changes nothing')
  t.strictSame(await askForReload(gateway.opsUrl), taken)
  t.strictSame(await statuses(), [404, 200])
})

t.test('a reload with problems lists them all, and keeps the current config', async (t) => {
  const gateway = await startGateway(t, { backend: (await startBackend(t)).url })
  const metrics = async () => {
    const { value } = await readMetrics(gateway.opsUrl)
    const count = (outcome: string) => value('gatehouse_config_reloads_total', { outcome })
    return [value('gatehouse_config_last_reload_successful'), count('taken'), count('refused')]
  }
  t.strictSame(await metrics(), [1, 0, 0])
  const wrong = { routes: [{ ...route('new'), upstream: 'bakend', auth: 'non' }] }
  const { code, status, problems } = await reloadWith(gateway, wrong)
  t.equal(code, 422)
  t.equal(status, 'refused')
  t.equal(problems?.length, 2)
  t.match(problems?.[0], /gateway\.yaml:1:\d+ {2}routes\[0\]\.upstream: unknown upstream "bakend"/)
  t.match(problems?.[1], /routes\[0\]\.auth: must be one of/)
  t.strictSame(await metrics(), [0, 0, 1])
  t.equal((await ask(t, gateway.url, 'GET /public')).status, 200)
  const line = gateway.logLines.find((text) => text.includes('config not reloaded'))
  t.match(JSON.parse(line ?? '{}'), { level: 'error', problems })
  t.match(await reloadWith(gateway, { routes: [route('new')] }), taken)
  t.strictSame(await metrics(), [1, 1, 1])
})

t.test('a reload of a missing or malformed file changes nothing', async (t) => {
  const gateway = await startGateway(t, { backend: (await startBackend(t)).url })
  writeFileSync(gateway.configFile, 'routes: [')
  t.match(await askForReload(gateway.opsUrl), { code: 422, problems: [/gateway\.yaml:1:/] })
  rmSync(gateway.configFile)
  t.match(await askForReload(gateway.opsUrl), { code: 503, status: 'failed', problems: [/cannot read/] })
  const { value } = await readMetrics(gateway.opsUrl)
  for (const outcome of ['refused', 'failed'])
    t.equal(value('gatehouse_config_reloads_total', { outcome }), 1, outcome)
  t.equal((await ask(t, gateway.url, 'GET /public')).status, 200)
})

t.test('a reload that changes an option fixed at the start is refused, naming the option', async (t) => {
  const gateway = await startGateway(t, { backend: (await startBackend(t)).url })
  const changes: readonly (readonly [options: Readonly<Record<string, unknown>>, path: string])[] = [
    [{ listen: { port: 0, host: '127.0.0.2' } }, 'listen.host'],
    [{ listen: { port: 1 } }, 'listen.port'],
    [{ listen: { port: 0, workers: 2 } }, 'listen.workers'],
    [{ ops: { port: 1 } }, 'ops.port'],
    [{ ops: { port: 0, host: '127.0.0.2' } }, 'ops.host'],
    [{ store: { sqlite: { path: 'other.db' } } }, 'store'],
    [{ keys: { sealingKey: { file: 'other.key' } } }, 'keys.sealingKey'],
  ]
  const same = { listen: { port: 0 }, ops: { port: 0 }, store: { sqlite: { path: 'gatehouse.db' } } }
  const before = { ...same, keys: { sealingKey: { file: 'sealing.key' } } }
  for (const [options, path] of changes) {
    const { code, problems } = await reloadWith(gateway, { ...before, ...options, routes: [route('new')] })
    t.equal(code, 422, path)
    t.match(problems, [`${path}: cannot be changed by a reload: restart the gateway`], path)
    t.equal((await ask(t, gateway.url, 'GET /new')).status, 404, 'nothing of it is taken')
  }
  t.match(await reloadWith(gateway, before), taken, 'a port of 0 keeps the port it got')
  t.equal((await ask(t, gateway.url, 'GET /new')).status, 200)
})

t.test('simultaneous reloads run one after another', async (t) => {
  const gateway = await startGateway(t, { backend: (await startBackend(t)).url })
  const asked = ['a', 'b', 'c', 'd'].map((name) => reloadWith(gateway, { routes: [route(name)] }))
  for (const answer of await Promise.all(asked)) t.match(answer, taken)
  t.equal((await ask(t, gateway.url, 'GET /d')).status, 200)
  t.equal((await ask(t, gateway.url, 'GET /a')).status, 404)
})

t.test('a reload takes POST with any body, and is refused during a shutdown', async (t) => {
  const gateway = await startGateway(t, { config: { shutdown: { delay: '3s', drain: '50ms' } } })
  const wrong = await ask(t, gateway.opsUrl, 'GET /reload')
  t.match(wrong, { status: 405, headers: { allow: 'POST' } })
  const headers = ['Content-Type: application/json']
  t.equal((await ask(t, gateway.opsUrl, 'POST /reload', headers, '{"routes":')).status, 200)
  const down = gateway.shutDown()
  t.match(await askForReload(gateway.opsUrl), { code: 503, status: 'shutting-down' })
  await down
})
