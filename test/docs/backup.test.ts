import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { run as runCommand, serve } from '../cli/run.ts'
import { configOf } from '../cli/workspace.ts'
import { startRedis } from '../setup/redis.ts'
import { createShell, linesOf } from './shell.ts'

// needs: bash
// uses: redis-server

const page = 'docs/deploying.md'

t.test('the commands for backups work beside a gateway, and move a store to Redis', async (t) => {
  const { folder, run } = createShell(t)
  const { url } = await startRedis(t)
  const created = await run('gatehouse accounts create --email ada@example.com --json')
  const { secretKey } = JSON.parse(created) as { readonly secretKey: string }
  mkdirSync(join(folder, 'new'))
  const withStore = (store: object, sealingKey: string) =>
    configOf({ store, keys: { sealingKey: { file: sealingKey } } })
  writeFileSync(
    join(folder, 'new/gateway.yaml'),
    withStore({ sqlite: { path: 'gatehouse.db' } }, '../data/sealing.key'),
  )
  writeFileSync(
    join(folder, 'redis.yaml'),
    withStore({ driver: 'redis', redis: { url } }, 'data/sealing.key'),
  )
  const gateway = await serve(t, ['--config', join(folder, 'config/gateway.yaml')], { cwd: folder })
  for (const line of linesOf(page, 'Backup and restore')) await run(line)
  gateway.child.kill('SIGTERM')
  await gateway.ended
  for (const line of linesOf(page, 'From SQLite to Redis')) await run(line)
  for (const config of ['new/gateway.yaml', 'redis.yaml']) {
    const shown = await runCommand(t, [
      'keys',
      'show',
      'ada@example.com',
      '--json',
      '--config',
      join(folder, config),
    ])
    t.match(shown.json(), { secretKey })
  }
  for (const line of linesOf(page, 'What a restored backup undoes')) await run(line)
})
