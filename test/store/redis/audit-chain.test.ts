import t from 'tap'
import { verifyAudit } from '#accounts/verify-audit.ts'
import { auditRetention } from '#store/audit.ts'
import { startRedis } from '../../setup/redis.ts'
import { newAuditEntry } from '../portal-samples.ts'
import { openInspector, openStoreAt, optionsOf } from './place.ts'

t.setTimeout(120_000)

const server = await startRedis(t)
const inspector = openInspector(t, server)
const log = 'gh:{account}:audit'

async function openWith(count: number) {
  await inspector.flushall()
  const store = await openStoreAt(t, optionsOf(server))
  for (let index = 0; index < count; index++)
    await store.appendAudit(newAuditEntry({ at: Date.now() + index }))
  const ids = (await inspector.xrange(log, '-', '+')).map(([id]) => id)
  return { store, ids }
}

t.test('an entry that is gone from Redis, at the start, in the middle or at the end, shows', async (t) => {
  for (const [gone, named] of [
    [0, 1],
    [2, 3],
    [4, 3],
  ] as const) {
    const { store, ids } = await openWith(5)
    t.match(await verifyAudit(store), { kind: 'intact', entries: 5 })
    await inspector.xdel(log, ids[gone] ?? '')
    t.match(await verifyAudit(store), { kind: 'broken', position: ids[named] })
  }
})

t.test('all entries gone from Redis show too, and one that was added', async (t) => {
  const { store, ids } = await openWith(3)
  await inspector.xadd(log, '*', 'entry', '{}', 'link', 'x')
  t.match(
    await verifyAudit(store),
    { kind: 'intact' },
    'what came after the end that was read is not looked at',
  )
  await store.appendAudit(newAuditEntry())
  t.match(await verifyAudit(store), { kind: 'broken' })
  t.equal(ids.length, 3)
  await inspector.del(log)
  t.match(await verifyAudit(store), { kind: 'broken', position: undefined })
})

t.test('entries of an earlier version are counted, and go first once the log is full', async (t) => {
  await inspector.flushall()
  const fill = `for i = 1, ARGV[1] do redis.call('XADD', KEYS[1], '*', 'entry', ARGV[2]) end`
  const text = JSON.stringify(newAuditEntry())
  await inspector.eval(fill, 1, log, auditRetention.entries, text)
  const store = await openStoreAt(t, optionsOf(server), { listens: false })
  const actor = { kind: 'account', channel: 'portal', id: 'a', email: 'a@x', address: '::1' } as const
  const own = newAuditEntry({ actor, target: { id: 'a', email: 'a@x' } })
  for (let index = 0; index < 30; index++) await store.appendAudit(own)
  t.equal(await inspector.xlen(log), auditRetention.entries, "an act on one's own account removes no other")
  await store.appendAudit(newAuditEntry())
  t.equal(await inspector.xlen(log), auditRetention.entries, 'the log is full: the oldest is gone')
  t.match(await verifyAudit(store), {
    kind: 'intact',
    entries: auditRetention.entries + 30,
    unchained: auditRetention.entries - 1,
  })
})

t.test('entries that are too old go, and the chain stays whole', async (t) => {
  await inspector.flushall()
  const old = Date.now() - auditRetention.ageMs - 1_000
  await inspector.xadd(log, `${old}-1`, 'entry', JSON.stringify(newAuditEntry()))
  const store = await openStoreAt(t, optionsOf(server))
  await store.appendAudit(newAuditEntry())
  t.strictSame(await verifyAudit(store), { kind: 'intact', entries: 1, unchained: 0 })
})
