import t from 'tap'
import { openKeyUses } from '../../src/accounts/key-uses.ts'
import { digestText } from '../../src/platform/digest-text.ts'
import { createKey, digestOf } from '../../src/secrets/keys.ts'
import type { RecordedKeyUse } from '../../src/store/keys.ts'
import { memoryInUse } from '../proxy/memory.ts'

const id = 'abcdefghijklmnop'
const address = '192.0.2.1'

/** Uses that are written nowhere but into a list, at a clock that is set by hand, when the test says so. */
function start(t: { teardown(work: () => unknown): void }, fail = () => false) {
  const written: (readonly RecordedKeyUse[])[] = []
  const time = { now: 1_000 }
  const store = {
    recordKeyUses: async (uses: readonly RecordedKeyUse[]) => {
      if (fail()) throw new Error('out of reach')
      written.push(uses)
    },
  }
  const uses = openKeyUses({ store, clock: () => time.now, flushMs: 3_600_000 })
  t.teardown(() => uses.close())
  return { uses, written, time }
}

t.test('of many uses of a key the last is written, once', async (t) => {
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

t.test('two keys of an account are told apart', async (t) => {
  const { uses, written } = start(t)
  const [one, two] = [createKey('secretKey', id), createKey('apiKey', id)]
  uses.record(id, one, address, 'secretKey')
  uses.record(id, two, address, 'accessToken')
  await uses.flush()
  t.equal(new Set(written[0]?.map(({ digest }) => digest)).size, 2)
})

t.test(
  'what could not be written is written later, also of an account that was seen again meanwhile',
  async (t) => {
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
  },
)

t.test('no more is written at once than the store should take, and none is forgotten', async (t) => {
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

t.test('more accounts than are remembered are not noted, and memory does not grow', async (t) => {
  const { uses, written } = start(t)
  const key = createKey('secretKey', id)
  for (let count = 0; count < 100_500; count++) uses.record(`account${count}`, key, address, 'secretKey')
  await uses.close()
  t.equal(
    written.reduce((sum, { length }) => sum + length, 0),
    100_000,
  )
})

t.test(
  'with the store out of reach what was noted waits, and is overtaken by what comes later',
  async (t) => {
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
  },
)

t.test('an end does not wait for a store that is out of reach', async (t) => {
  const { uses, written } = start(t, () => true)
  uses.record(id, createKey('secretKey', id), address, 'secretKey')
  await uses.close()
  t.equal(written.length, 0)
})

t.test(
  'of a use only the key and the address are kept in memory, not the head that they came in',
  async (t) => {
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
  },
)
