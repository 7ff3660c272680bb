import { statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { serve } from '../cli/run.ts'
import { until } from '../setup/net.ts'
import { createShell, linesOf } from './shell.ts'

// slow: backs up 64 MiB beside a gateway that writes

/** Begins one session after another until it is stopped: each is a write. */
function writeOn(url: string, body: object) {
  let isOver = false
  let writes = 0
  const over = (async () => {
    while (!isOver) {
      const response = await fetch(`${url}/api/v1/accounts/access-token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
      if (response.status === 200) writes++
      await response.body?.cancel()
    }
  })()
  const stop = () => {
    isOver = true
    return over
  }
  return { count: () => writes, stop }
}

t.test('a backup beside a writing gateway ends, overwrites nothing, and can be restored', async (t) => {
  const { folder, run } = createShell(t)
  const page = 'docs/deploying.md'
  const blocks = [0, 1, 2].map((index) =>
    linesOf(page, 'Backup and restore', index)
      .join('\n')
      .replaceAll('/var/lib/gatehouse/', `${folder}/data/`)
      .replaceAll('/backup/', `${folder}/backup/`),
  )
  const [sqlite3 = '', node = '', restore = ''] = blocks
  const created = await run('gatehouse accounts create --email ada@example.com --json')
  const { secretKey, apiKey } = JSON.parse(created) as { readonly secretKey: string; readonly apiKey: string }
  // So large that a copy that starts over at each write never ends.
  const bytes = 64 * 1_048_576
  await run(`sqlite3 data/gatehouse.db "CREATE TABLE filler AS SELECT zeroblob(${bytes})"`)
  const file = ['--config', join(folder, 'config/gateway.yaml')]
  const start = () => serve(t, file, { cwd: folder, withinMs: 30_000 })
  const statusOf = async (url: string) =>
    (await fetch(`${url}/x`, { headers: { SecretKey: secretKey } })).status
  const gateway = await start()
  const writing = writeOn(gateway.url, { SecretKey: secretKey, APIKey: apiKey })
  for (const [block, copy] of [
    [sqlite3, 'backup/gatehouse.db'],
    [node, 'data/backup.db'],
  ] as const) {
    const before = writing.count()
    await until('it writes', () => writing.count() > before || undefined)
    const output = await run(block)
    if (block === sqlite3) t.match(output, /^ok$/m)
    const { size, mode, mtimeMs } = statSync(join(folder, copy))
    t.ok(size > bytes)
    t.equal(mode & 0o777, 0o600)
    await t.rejects(run(block), /output file already exists/)
    t.equal(statSync(join(folder, copy)).mtimeMs, mtimeMs, 'what is there stays as it is')
  }
  const after = writing.count()
  await until('it goes on', () => writing.count() > after || undefined)
  await writing.stop()
  await run('gatehouse accounts delete ada@example.com --yes')
  await until('the key is refused', async () => (await statusOf(gateway.url)) === 401 || undefined)
  gateway.child.kill('SIGTERM')
  await gateway.ended
  await run(restore)
  t.match(await run('gatehouse accounts list'), 'ada@example.com')
  // There is no backend.
  t.equal(await statusOf((await start()).url), 502, 'its key is accepted again')
  for (const line of linesOf(page, 'Backup and restore', 3)) await run(line)
})
