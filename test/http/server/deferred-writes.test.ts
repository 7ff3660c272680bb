import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { afterWrites, deferWrite, doAndWrite } from '#http/socket-writes.ts'

/** What defers the writing of a number, and those that were written. */
function record() {
  const written: number[] = []
  const put = (number: number) => deferWrite({ isDeferred: false, writeNow: () => written.push(number) })
  return { written, put }
}

t.test('writes of one turn follow each other at its end, in their order', async (t) => {
  const { written, put } = record()
  put(1)
  await Promise.resolve().then(() => put(2))
  t.strictSame(written, [])
  await nextTurn()
  t.strictSame(written, [1, 2])
  put(3)
  await nextTurn()
  t.strictSame(written, [1, 2, 3])
})

t.test('a write may put off the next, which comes a turn later', async (t) => {
  const written: string[] = []
  const second = { isDeferred: false, writeNow: () => written.push('second') }
  deferWrite({
    isDeferred: false,
    writeNow: () => {
      written.push('first')
      deferWrite(second)
    },
  })
  await nextTurn()
  t.strictSame(written, ['first'])
  await nextTurn()
  t.strictSame(written, ['first', 'second'])
})

t.test('no more than 128 wait for each other', async (t) => {
  for (const [count, atOnce] of [
    [127, 0],
    [128, 0],
    [129, 128],
    [400, 384],
  ] as const) {
    let written = 0
    for (let number = 0; number < count; number++)
      deferWrite({ isDeferred: false, writeNow: () => written++ })
    t.equal(written, atOnce, `${count}`)
    await nextTurn()
    t.equal(written, count, `${count}, at the end of the turn`)
  }
})

t.test('a task waits for the writes in progress, and otherwise runs at once', async (t) => {
  const done: string[] = []
  const write = (name: string) =>
    deferWrite({
      isDeferred: false,
      writeNow: () => {
        done.push(name)
        afterWrites(() => done.push(`after ${name}`))
      },
    })
  write('first')
  write('second')
  afterWrites(() => done.push('before'))
  await nextTurn()
  t.strictSame(done, ['before', 'first', 'second', 'after first', 'after second'])
})

t.test('what defers writes at the end of a turn has them written in it', async (t) => {
  const { written, put } = record()
  put(1)
  doAndWrite(() => {
    put(2)
    t.strictSame(written, [])
  })
  t.strictSame(written, [1, 2])
  put(3)
  await nextTurn()
  t.strictSame(written, [1, 2, 3])
})

t.test('also after an error', async (t) => {
  const { written, put } = record()
  function fail(): void {
    put(1)
    throw new Error('broken')
  }
  t.throws(() => doAndWrite(fail), { message: 'broken' })
  t.strictSame(written, [1])
  put(2)
  await nextTurn()
  t.strictSame(written, [1, 2])
})
