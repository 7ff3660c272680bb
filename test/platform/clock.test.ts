import t from 'tap'
import { everySecond } from '#platform/every-second.ts'
import { until } from '../setup/net.ts'

t.test('all that happens every second happens at once, with nothing in between', async (t) => {
  const calls: string[] = []
  const between: number[] = []
  t.teardown(
    everySecond(() => {
      calls.push('first')
      // Between two timers Node runs microtasks.
      queueMicrotask(() => between.push(calls.length))
    }),
  )
  const stop = everySecond(() => calls.push('second'))
  await until('both were called', () => calls.length >= 2)
  t.strictSame(calls, ['first', 'second'])
  t.strictSame(between, [2], 'the second had been called by then')
  stop()
  await until('the first goes on', () => calls.length >= 4)
  t.strictSame(calls, ['first', 'second', 'first', 'first'])
})

t.test('a call tells how late it is', async (t) => {
  const late: number[] = []
  t.teardown(everySecond((lateMs) => late.push(lateMs)))
  await until('it was called', () => late.length > 0)
  const end = performance.now() + 1_500
  while (performance.now() < end);
  await until('it was called again', () => late.length > 1)
  t.ok(Number(late[1]) >= 450, `${late}`)
})

t.test('it starts anew where all had stopped', async (t) => {
  everySecond(() => t.fail('stopped'))()
  const before = performance.now()
  let calledAt = 0
  t.teardown(everySecond(() => (calledAt ||= performance.now())))
  await until('it was called', () => calledAt > 0)
  t.ok(calledAt - before >= 990, `${calledAt - before}`)
})
