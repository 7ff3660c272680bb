import { DatabaseSync } from 'node:sqlite'
import { Redis } from 'ioredis'
import t from 'tap'
import { startRedis } from '../setup/redis.ts'
import { createWorkspace, sealingKey } from './workspace.ts'

const create = (email: string) => ['accounts', 'create', '--email', email]
const emails = ['ada@example.com', 'bob@example.com', 'eve@example.com']

t.test('audit verify exits with 1 and names the entry after one that was removed from SQLite', async (t) => {
  const { run, folder } = createWorkspace(t)
  for (const email of emails) t.equal((await run(...create(email))).status, 0)
  t.equal((await run('audit', 'verify')).status, 0)
  const database = new DatabaseSync(`${folder}/data/gatehouse.db`)
  t.teardown(() => database.close())
  const entries = database.prepare('SELECT seq FROM audit ORDER BY seq').all()
  database.prepare('DELETE FROM audit WHERE seq = ?').run(Number(entries[1]?.seq))
  const broken = await run('audit', 'verify', '--json')
  t.equal(broken.status, 1)
  t.match(broken.json(), { verified: false })
  t.match(broken.stdout, `"${entries[2]?.seq}"`, 'the entry that does not follow')
  t.equal((await run('audit', 'verify')).status, 1)
})

t.test('audit verify exits with 1 and names the entry after one that was removed from Redis', async (t) => {
  const { url } = await startRedis(t)
  const { run } = createWorkspace(
    t,
    { store: { driver: 'redis', redis: { url } } },
    { 'data/sealing.key': sealingKey },
  )
  for (const email of emails) t.equal((await run(...create(email))).status, 0)
  t.equal((await run('audit', 'verify')).status, 0)
  const client = new Redis(url)
  t.teardown(() => client.disconnect())
  const entries = await client.xrange('gh:{account}:audit', '-', '+')
  await client.xdel('gh:{account}:audit', entries[1]?.[0] ?? '')
  const broken = await run('audit', 'verify', '--json')
  t.equal(broken.status, 1)
  t.match(broken.json(), { verified: false })
  t.match(broken.stdout, `"${entries[2]?.[0]}"`, 'the entry that does not follow')
  t.equal((await run('audit', 'verify')).status, 1)
})
