import fc from 'fast-check'
import t from 'tap'
import { type Listed, UnorderedList } from '#platform/deadline-sweep.ts'

interface Item extends Listed {
  readonly name: number
}

const itemsMax = 12

t.test('an unordered list holds what a set would', async () => {
  const step = fc.tuple(fc.boolean(), fc.nat(itemsMax - 1))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const items: Item[] = Array.from({ length: itemsMax }, (_, name) => ({ name, place: -1 }))
      const list = new UnorderedList<Item>()
      const model = new Set<Item>()
      for (const [isAdded, index] of steps) {
        const item = items[index]
        if (item === undefined) continue
        if (isAdded) {
          list.add(item)
          model.add(item)
        } else if (list.remove(item) !== model.delete(item)) return false
        if (list.size !== model.size) return false
      }
      return [...list].every((item) => model.has(item)) && new Set(list).size === model.size
    }),
    { numRuns: 2_000, seed: 20 },
  )
})

t.test('items may be removed while the list is gone through, and none is left out', async (t) => {
  const ways = {
    iterator: (list: UnorderedList<Item>, visit: (item: Item) => void) => {
      for (const item of list) visit(item)
    },
    forEach: (list: UnorderedList<Item>, visit: (item: Item) => void) => list.forEach(visit),
  }
  for (const [way, goThrough] of Object.entries(ways)) {
    for (const removed of ['itself', 'the others'] as const) {
      const items: Item[] = Array.from({ length: 5 }, (_, name) => ({ name, place: -1 }))
      const list = new UnorderedList<Item>()
      for (const item of items) list.add(item)
      const seen = new Set<number>()
      goThrough(list, (item) => {
        seen.add(item.name)
        for (const other of items) if ((other === item) === (removed === 'itself')) list.remove(other)
      })
      t.equal(seen.size, removed === 'itself' ? 5 : 1, `${way}, ${removed}`)
    }
  }
})
