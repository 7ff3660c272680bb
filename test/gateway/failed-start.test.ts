import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type LoadedConfig, loadConfig } from '#config/load.ts'
import { createLog } from '#platform/log/log.ts'
import { openGateway } from '#runtime/gateway.ts'

function load(t: Test): LoadedConfig {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-failed-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'gateway.yaml')
  const config = {
    listen: { port: 0 },
    ops: { port: 0 },
    decide: { port: 0 },
    upstreams: { app: { targets: [{ url: 'http://127.0.0.1:1' }] } },
    routes: [{ name: 'app', path: '/', upstream: 'app', auth: 'none' }],
    keys: { sealingKey: { file: 'sealing.key' } },
    store: { sqlite: { path: 'gatehouse.db' } },
  }
  writeFileSync(file, JSON.stringify(config))
  return loadConfig({ file, env: {} })
}

/** The sockets and databases that this process has open. */
function inUse(): readonly string[] {
  const files = readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      return []
    }
  })
  return files.filter((file) => file.startsWith('socket:') || file.includes('gatehouse.db')).toSorted()
}

/** A clock that fails where it is read by a file of the status page, as any fault there would. */
function clockFailingAt(place: string): () => number {
  return () => {
    if (new Error('where').stack?.includes(place)) throw new Error('no time')
    return Date.now()
  }
}

const skip = process.platform === 'linux' ? false : 'the files of a process are listed by Linux'
const log = createLog({ level: 'silent', format: 'json' })

for (const place of ['openStatusReader', 'sample']) {
  t.test(
    `a start that fails in ${place} leaves neither listeners nor the database open`,
    { skip },
    async (t) => {
      const loaded = load(t)
      const before = inUse()
      const opening = openGateway({ loaded, rereadConfig: () => loaded, log, clock: clockFailingAt(place) })
      await t.rejects(opening, /no time/)
      t.strictSame(inUse(), before)
    },
  )
}

t.test('a start whose listeners cannot be created leaves the database closed', { skip }, async (t) => {
  const loaded = load(t)
  const before = inUse()
  const { listen } = loaded.config
  const tls = { cert: 'no certificate', key: 'no key', clientCa: undefined }
  const config = { ...loaded.config, listen: { ...listen, tls } }
  const opening = openGateway({ loaded: { ...loaded, config }, rereadConfig: () => loaded, log })
  await t.rejects(opening, /PEM/)
  t.strictSame(inUse(), before)
})

t.test(
  'a start whose ops port is taken leaves neither listeners nor the database open',
  { skip },
  async (t) => {
    const first = load(t)
    const gateway = await openGateway({ loaded: first, rereadConfig: () => first, log })
    const before = inUse()
    const second = load(t)
    const ops = { ...second.config.ops, port: Number(new URL(gateway.opsUrl).port) }
    const loaded = { ...second, config: { ...second.config, ops } }
    await t.rejects(openGateway({ loaded, rereadConfig: () => loaded, log }), /ops\.port|in use/)
    t.strictSame(inUse(), before)
    await gateway.shutDown()
  },
)
