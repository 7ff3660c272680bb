import fc from 'fast-check'
import t from 'tap'
import { StreamTable, type TableEntry } from '#http/h2/framing/stream-table.ts'

interface Entry extends TableEntry<Entry> {}

t.test('a table of streams finds what a map would', async () => {
  const step = fc.tuple(fc.boolean(), fc.nat(99))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const table = new StreamTable<Entry>()
      const model = new Map<number, Entry>()
      for (const [isAdded, number] of steps) {
        const id = 2 * number + 1
        const known = model.get(id)
        if (isAdded && known === undefined) {
          const entry = { id, nextInTable: undefined }
          table.add(entry)
          model.set(id, entry)
        } else if (!isAdded) {
          table.remove(known ?? { id, nextInTable: undefined })
          model.delete(id)
        }
        if (table.get(id) !== model.get(id) || table.size !== model.size) return false
      }
      const listed = new Set(table)
      return listed.size === model.size && [...model.values()].every((entry) => listed.has(entry))
    }),
    { numRuns: 1_000, seed: 19 },
  )
})

t.test('streams may end while the table is gone through', async (t) => {
  const table = new StreamTable<Entry>()
  const entries: Entry[] = Array.from({ length: 50 }, (_, index) => ({
    id: 2 * index + 1,
    nextInTable: undefined,
  }))
  for (const entry of entries) table.add(entry)
  let seen = 0
  for (const entry of table) {
    seen++
    table.remove(entry)
  }
  t.strictSame([seen, table.size], [50, 0])
})
