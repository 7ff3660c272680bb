import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createTargetIds, targetIdLength } from '#http/upstream/target-ids.ts'
import type { Keys } from '#platform/secrets/sealing.ts'

const [one, two] = [{ name: 'http://10.0.0.11:3000' }, { name: 'http://10.0.0.12:3000' }]
const keysOf = (...keys: Keys) => {
  return () => keys
}

t.test('an ID is the same in all processes with the same key, and tells nothing', async (t) => {
  const key = randomBytes(32)
  const ids = createTargetIds(keysOf(key), 'orders')
  const id = ids.idOf(one)
  t.match(id, new RegExp(`^[\\w-]{${targetIdLength}}$`))
  t.equal(createTargetIds(keysOf(Buffer.from(key)), 'orders').idOf({ ...one }), id)
  t.ok(ids.isNamed(one, [id]))
  const others = [
    ids.idOf(two),
    createTargetIds(keysOf(key), 'orders2').idOf(one),
    createTargetIds(keysOf(randomBytes(32)), 'orders').idOf(one),
  ]
  t.equal(new Set([id, ...others]).size, 4, 'of another target, upstream or key it is another')
  for (const other of [...others, '', id.slice(1), `${id}x`, id.toUpperCase()])
    t.notOk(ids.isNamed(one, [other]))
  t.notOk(ids.isNamed(one, []))
  t.ok(ids.isNamed(one, ['', 'x', id]))
})

t.test('while a key is replaced, IDs of both count, and the first makes them', async (t) => {
  const [before, after] = [randomBytes(32), randomBytes(32)]
  let keys: Keys = [before]
  const ids = createTargetIds(() => keys, 'orders')
  const old = ids.idOf(one)
  keys = [after, before]
  const next = ids.idOf(one)
  t.not(next, old)
  t.ok(ids.isNamed(one, [old]))
  t.ok(ids.isNamed(one, [next]))
  keys = [after]
  t.equal(ids.idOf(one), next)
  t.notOk(ids.isNamed(one, [old]))
})
