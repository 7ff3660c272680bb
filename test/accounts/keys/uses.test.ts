import t from 'tap'
import { openKeyUses } from '#accounts/keys/uses.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createKey, digestOf } from '#platform/secrets/keys.ts'
import { digestText, type RecordedKeyUse } from '#store/keys.ts'
import { memoryInUse } from '../../gateway/forward/memory.ts'
import { until } from '../../setup/net.ts'

const id = 'abcdefghijklmnop'
const address = '192.0.2.1'

/** Uses that are written nowhere but into a list, at a clock that is set by hand, when the test says so. */
function start(
  t: { teardown(work: () => unknown): void },
  fail = () => false,
  { flushMs = 3_600_000, error = new GatehouseError('store-unavailable') as Error } = {},
) {
  const written: (readonly RecordedKeyUse[])[] = []
  const losses: unknown[] = []
  const time = { now: 1_000 }
  const store = {
    recordKeyUses: async (uses: readonly RecordedKeyUse[]) => {
      if (fail()) throw error
      written.push(uses)
    },
  }
  const uses = openKeyUses({ store, clock: () => time.now, onLoss: (loss) => losses.push(loss), flushMs })
  t.teardown(() => uses.close())
  return { uses, written, losses, time }
}

t.test('only the last of many uses of a key is written, once', async (t) => {
  const { uses, written, time } = start(t)
  const key = createKey('secretKey', id)
  for (let count = 0; count < 1_000; count++) {
    time.now++
    uses.record(id, key, `192.0.2.${count % 200}`, 'secretKey')
  }
  await uses.flush()
  const digest = digestText({ digest: digestOf(key) })
  t.strictSame(written, [[{ accountId: id, digest, at: 2_000, address: '192.0.2.199', scheme: 'secretKey' }]])
  await uses.flush()
  t.equal(written.length, 1, 'nothing new, nothing written')
})

t.test("uses of an account's two keys are recorded separately", async (t) => {
  const { uses, written } = start(t)
  const [one, two] = [createKey('secretKey', id), createKey('apiKey', id)]
  uses.record(id, one, address, 'secretKey')
  uses.record(id, two, address, 'accessToken')
  await uses.flush()
  t.equal(new Set(written[0]?.map(({ digest }) => digest)).size, 2)
})

t.test('unwritten key uses are retried, also of an account used again meanwhile', async (t) => {
  let isDown = true
  const { uses, written, time } = start(t, () => isDown)
  const keys = [createKey('secretKey', id), createKey('secretKey', id)] as const
  uses.record(id, keys[0], address, 'secretKey')
  uses.record(id, keys[1], address, 'secretKey')
  const writing = uses.flush()
  time.now = 2_000
  uses.record(id, keys[0], address, 'secretKey')
  await writing
  isDown = false
  await uses.flush()
  const noted = written.flat().map(({ digest, at }) => ({ digest, at }))
  t.strictSame(noted, [
    { digest: digestText({ digest: digestOf(keys[0]) }), at: 2_000 },
    { digest: digestText({ digest: digestOf(keys[1]) }), at: 1_000 },
  ])
})

t.test('key uses are written in bounded batches, and none is lost', async (t) => {
  const { uses, written } = start(t)
  const key = createKey('secretKey', id)
  for (let count = 0; count < 250; count++) uses.record(`account${count}`, key, address, 'secretKey')
  await uses.flush()
  t.equal(written[0]?.length, 100)
  await uses.close()
  t.strictSame(
    written.map(({ length }) => length),
    [100, 100, 50],
  )
})

t.test('key uses beyond the remembered accounts are dropped, and memory is bounded', async (t) => {
  const { uses, written } = start(t)
  const key = createKey('secretKey', id)
  for (let count = 0; count < 100_500; count++) uses.record(`account${count}`, key, address, 'secretKey')
  await uses.close()
  t.equal(
    written.reduce((sum, { length }) => sum + length, 0),
    100_000,
  )
})

t.test('key uses wait out an outage, replaced by later ones', async (t) => {
  let isDown = true
  const { uses, written, time } = start(t, () => isDown)
  const key = createKey('secretKey', id)
  uses.record(id, key, address, 'secretKey')
  uses.record('other', key, address, 'secretKey')
  await uses.flush()
  time.now = 2_000
  uses.record(id, key, '192.0.2.2', 'secretKey')
  await uses.flush()
  t.equal(written.length, 0)
  isDown = false
  await uses.flush()
  const [first = []] = written
  t.match(
    first.toSorted((a, b) => a.at - b.at),
    [
      { accountId: 'other', at: 1_000 },
      { accountId: id, at: 2_000, address: '192.0.2.2' },
    ],
  )
})

t.test('key uses that the store can never write are dropped, and the loss is reported once', async (t) => {
  let isBroken = true
  const error = new Error('the script is broken')
  const { uses, written, losses } = start(t, () => isBroken, { error })
  const key = createKey('secretKey', id)
  uses.record(id, key, address, 'secretKey')
  uses.record('other', key, address, 'secretKey')
  await uses.flush()
  t.strictSame(losses, [error])
  await uses.flush()
  t.equal(losses.length, 1, 'nothing is queued again')
  isBroken = false
  uses.record(id, key, address, 'secretKey')
  await uses.flush()
  t.strictSame([written.length, losses.length], [1, 1])
})

t.test('a shutdown does not wait to write key uses to an unreachable store', async (t) => {
  const { uses, written } = start(t, () => true)
  uses.record(id, createKey('secretKey', id), address, 'secretKey')
  await uses.close()
  t.equal(written.length, 0)
})

t.test('a pending key use keeps key and address in memory, not its request head', async (t) => {
  const { uses, written } = start(t)
  const headLength = 16_384
  const count = 1_000
  const ids = Array.from({ length: count }, (_, index) => `${index}`.padStart(16, 'x'))
  const before = memoryInUse()
  for (const each of ids) {
    for (const times of [1, 2]) {
      const head = `${createKey('secretKey', each)} 2001:db8::1:${times} `.padEnd(headLength, each)
      const [key = '', client = ''] = head.split(' ', 2)
      uses.record(each, key, client, 'secretKey')
    }
  }
  const growth = memoryInUse() - before
  // The heads have 31 MiB; a use takes less than a KiB.
  t.ok(growth < 2 * count * 1_024, `${growth} bytes`)
  await uses.flush()
  t.equal(written[0]?.length, 200)
})

t.test('without uses to write there is no timer', async (t) => {
  const timers = t.capture(globalThis, 'setTimeout', setTimeout)
  const intervals = t.capture(globalThis, 'setInterval', setInterval)
  const { uses, written } = start(t)
  const key = createKey('secretKey', id)
  t.equal(timers().length, 0)
  uses.record(id, key, address, 'secretKey')
  uses.record(id, key, address, 'secretKey')
  t.strictSame(
    timers().map(({ args }) => args[1]),
    [3_600_000],
  )
  await uses.flush()
  t.equal(written.length, 1)
  t.equal(timers().length, 0)
  t.equal(intervals().length, 0)
})

t.test('uses are written after a while, and again where that failed', async (t) => {
  let failures = 0
  const { uses, written } = start(t, () => failures++ < 2, { flushMs: 1 })
  uses.record(id, createKey('secretKey', id), address, 'secretKey')
  await until('they are written', () => written.length > 0 || undefined)
  t.equal(failures, 3)
})
