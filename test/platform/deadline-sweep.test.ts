import t from 'tap'
import { DeadlineSweep, type Expiring } from '#platform/deadline-sweep.ts'
import { until } from '../setup/net.ts'

class Item implements Expiring {
  deadline = Number.POSITIVE_INFINITY
  place = -1
  expiredAt: number | undefined

  expire(now: number): void {
    this.expiredAt = now
  }
}

t.test('items expire once their deadline has passed, and not before', async (t) => {
  const sweep = new DeadlineSweep<Item>(5)
  const [late, never, removed] = [new Item(), new Item(), new Item()]
  for (const item of [late, never, removed]) sweep.add(item)
  late.deadline = performance.now() + 30
  removed.deadline = 0
  sweep.remove(removed)
  const expiredAt = await until('it expires', () => late.expiredAt)
  t.ok(expiredAt >= late.deadline)
  t.equal(never.expiredAt, undefined)
  t.equal(removed.expiredAt, undefined)
})

t.test('items that come one at a time share a timer, which ends when none is left', async (t) => {
  const started = t.capture(globalThis, 'setInterval', setInterval)
  const ended = t.capture(globalThis, 'clearInterval', clearInterval)
  const sweep = new DeadlineSweep<Item>(5)
  for (let count = 0; count < 100; count++) {
    const item = new Item()
    sweep.add(item)
    sweep.remove(item)
  }
  t.equal(started().length, 1)
  await until('the timer has ended', () => ended().length === 1)
  const item = new Item()
  sweep.add(item)
  item.deadline = 0
  await until('it runs again', () => item.expiredAt)
  t.equal(started().length, 1, 'once more')
})
