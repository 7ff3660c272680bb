import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import {
  afterReads,
  afterWrites,
  deferWrite,
  deliverReads,
  requests,
  responses,
  scheduleTurnEnd,
} from '#http/turn.ts'

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

/** As a socket does that has read something. */
function read(from: 'client' | 'target', run: () => void): void {
  const queue = from === 'client' ? requests : responses
  queue.add({ receiveDeferred: run }, 1)
  scheduleTurnEnd()
}

t.test('each step is taken for all before the next', async (t) => {
  const done: string[] = []
  const write = (name: string) =>
    deferWrite({ isDeferred: false, writeNow: () => done.push(`write ${name}`) })
  for (const name of ['first', 'second'])
    read('client', () => {
      done.push(`read ${name}`)
      afterReads(() => {
        done.push(`handle ${name}`)
        write(name)
      })
    })
  read('target', () => {
    done.push('response')
    write('response')
  })
  write('earlier')
  await nextTurn()
  t.strictSame(done, [
    ...['response', 'read first', 'read second', 'handle first', 'handle second'],
    ...['write earlier', 'write response', 'write first', 'write second'],
  ])
})

t.test('outside of the reads of a turn a task runs at once', async (t) => {
  const done: string[] = []
  afterReads(() => done.push('before'))
  t.strictSame(done, ['before'])
  read('client', () => afterReads(() => afterReads(() => done.push('of a task'))))
  deliverReads()
  t.strictSame(done, ['before', 'of a task'])
  await nextTurn()
  t.strictSame(done, ['before', 'of a task'])
})

t.test('after an error all others still have their step', async (t) => {
  const done: string[] = []
  const fail = () => {
    throw new Error('broken')
  }
  read('target', fail)
  read('target', () => done.push('response'))
  read('client', () => {
    afterReads(fail)
    afterReads(() => done.push('handled'))
  })
  t.throws(deliverReads, { message: 'broken' })
  t.strictSame(done, ['response', 'handled'])
  deferWrite({ isDeferred: false, writeNow: fail })
  deferWrite({ isDeferred: false, writeNow: () => afterWrites(() => done.push('written')) })
  const [error] = await once(process, 'uncaughtException')
  t.match(error, { message: 'broken' })
  t.strictSame(done, ['response', 'handled', 'written'])
})
