import t from 'tap'
import { createImportedKeys } from '#identity/imported-keys.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'

const lost = new GatehouseError('store-unavailable')

/** With one key in the store, unless it is taken out. */
function open() {
  const state = { version: {} as object | undefined, isLost: false, hasKeys: true, reads: 0 }
  const read = async <Value>(value: Value): Promise<Value> => {
    if (state.isLost) throw lost
    return value
  }
  const keys = createImportedKeys({
    store: {
      hasImportedKeys: () => {
        state.reads++
        return read(state.hasKeys)
      },
      findImportedKey: () => read('account'),
    },
    directory: { version: () => state.version },
    negativeTtlMs: 1_000,
    monotonic: () => 0,
  })
  return { state, keys }
}

t.test('whether there are keys is unknown, not denied, until the store has said so once', async (t) => {
  const { state, keys } = open()
  state.version = undefined
  await t.rejects(keys.hasAny(), { code: 'store-unavailable' }, 'it is known to be unreachable')
  state.version = {}
  state.isLost = true
  await t.rejects(keys.hasAny(), { code: 'store-unavailable' }, 'it turns out to be')
  t.equal(keys.hasNone(), false)
  state.isLost = false
  t.equal(await keys.hasAny(), true)
})

t.test('what the store said last counts while it is unreachable', async (t) => {
  const { state, keys } = open()
  t.equal(await keys.hasAny(), true)
  for (const [version, isLost] of [
    [undefined, false],
    [{}, true],
  ] as const) {
    Object.assign(state, { version, isLost })
    t.equal(await keys.hasAny(), true)
  }
})

t.test('that there are none is forgotten with the next change, and read once for all who ask', async (t) => {
  const { state, keys } = open()
  state.hasKeys = false
  t.strictSame(await Promise.all([keys.hasAny(), keys.hasAny()]), [false, false])
  t.equal(state.reads, 1)
  t.equal(keys.hasNone(), true)
  state.version = {}
  state.hasKeys = true
  t.equal(keys.hasNone(), false, 'it may be the import of the first')
  t.equal(await keys.hasAny(), true)
})

t.test('that there are some is believed for a second, whatever changes', async (t) => {
  const { state, keys } = open()
  t.equal(await keys.hasAny(), true)
  state.version = {}
  t.equal(await keys.hasAny(), true)
  t.equal(state.reads, 1)
})
