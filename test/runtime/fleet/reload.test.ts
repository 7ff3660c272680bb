import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { readMetrics } from '../../gateway/support/metrics.ts'
import { askForReload, reloadWith, rewrite, taken } from '../../gateway/support/reload.ts'
import { startBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { get, serveFleet, untilAllAnswer } from './fleet.ts'

// slow: starts several fleets

const route = (name: string) => ({ name, path: `/${name}`, upstream: 'backend', auth: 'none' })

t.test('a reload is taken by all workers or none', async (t) => {
  const backend = await startBackend(t)
  const fleet = await serveFleet(t, { backend: backend.url, config: { routes: [route('all'), route('a')] } })
  await untilAllAnswer(fleet)
  t.match(await reloadWith(fleet, { routes: [route('all'), route('b')] }), taken)
  const answers = new Set<number>()
  await until('both workers have answered by the new one', async () => {
    for (const answer of await Promise.all(Array.from({ length: 40 }, () => get(`${fleet.url}/b`))))
      answers.add(answer)
    const answering = fleet.lines().filter(({ route }) => route === 'b')
    return new Set(answering.map(({ worker }) => worker)).size === 2 || undefined
  })
  t.strictSame([...answers], [200], 'from the answer on nobody meets the old one')
  const refused = await reloadWith(fleet, { routes: [route('c')], listen: { port: 0, workers: 3 } })
  t.match(refused, { code: 422, problems: [/listen\.workers: cannot be changed/] })
  t.equal(await get(`${fleet.url}/b`), 200)
  t.equal((await readMetrics(fleet.opsUrl)).value('gatehouse_config_last_reload_successful'), 0)
})

t.test("a replacement worker runs on the others' config, whatever the file says", async (t) => {
  const backend = await startBackend(t)
  const fleet = await serveFleet(t, { backend: backend.url, config: { routes: [route('all'), route('a')] } })
  t.match(await reloadWith(fleet, { routes: [route('all'), route('b')] }), taken)
  writeFileSync(fleet.configFile, 'nonsense: [')
  for (const pid of fleet.pids()) process.kill(pid, 'SIGKILL')
  await until('both are replaced', () => fleet.pids().length === 4 || undefined, 30_000)
  await untilAllAnswer(fleet)
  for (let turn = 0; turn < 20; turn++) t.equal(await get(`${fleet.url}/b`), 200, 'on the same port')
  t.match(await askForReload(fleet.opsUrl), { code: 422 })
})

t.test('every worker serves the logo that was there at the last reload', async (t) => {
  const config = { portal: { branding: { logo: { file: 'logo.svg' } } } }
  const fleet = await serveFleet(t, { config, files: { 'logo.svg': '<svg id="first"/>' } })
  const logo = async () =>
    /<img src="([^"]+)"/.exec(await (await fetch(`${fleet.url}/portal/sign-in`)).text())?.[1]
  const logos = async () => new Set(await Promise.all(Array.from({ length: 40 }, logo)))
  const [first] = await logos()
  writeFileSync(join(dirname(fleet.configFile), 'logo.svg'), '<svg id="second"/>')
  t.strictSame([...(await logos())], [first], 'not before')
  t.match(await askForReload(fleet.opsUrl), taken)
  const [second, ...others] = await logos()
  t.strictSame(others, [])
  t.not(second, first)
  t.equal(await (await fetch(fleet.url + second)).text(), '<svg id="second"/>')
})

t.test('a reloaded log level applies to the primary process too', async (t) => {
  const fleet = await serveFleet(t)
  t.match(await reloadWith(fleet, { log: { level: 'silent' } }), taken)
  const before = fleet.lines().length
  fleet.child.kill('SIGTERM')
  await fleet.ended
  t.strictSame(fleet.lines().slice(before), [])
})

t.test('SIGHUP triggers a reload', async (t) => {
  const backend = await startBackend(t)
  const fleet = await serveFleet(t, { backend: backend.url, config: { routes: [route('a')] } })
  rewrite(fleet.configFile, { routes: [route('b')] })
  fleet.child.kill('SIGHUP')
  await until('it is taken', async () => (await get(`${fleet.url}/b`)) === 200 || undefined)
  await until('it is said', () => fleet.lines().find(({ msg }) => msg === 'config reloaded'))
})

t.test('a reload under load fails no request in any worker', async (t) => {
  const backend = await startBackend(t)
  const fleet = await serveFleet(t, { backend: backend.url, config: { routes: [route('all')] } })
  let isOver = false
  const statuses = new Set<number>()
  let count = 0
  const kept = Array.from({ length: 4 }, async () => {
    const client = await connectRaw(t, fleet.url)
    while (!isOver) {
      statuses.add((await client.send('GET /all HTTP/1.1\r\nHost: x\r\n\r\n').response()).status)
      count++
    }
  })
  for (let round = 0; round < 10; round++) {
    const before = count
    const upstreams = { backend: { targets: [{ url: backend.url }], connections: 10 + round } }
    t.match(await reloadWith(fleet, { upstreams }), taken)
    t.equal(await get(`${fleet.url}/all`), 200)
    while (count < before + 20) await new Promise((resolve) => setImmediate(resolve))
  }
  isOver = true
  await Promise.all(kept)
  t.strictSame([...statuses], [200])
})
