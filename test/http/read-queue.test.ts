import t from 'tap'
import { ReadQueue } from '#http/read-queue.ts'

t.test('data is delivered in its order, each at the start of the shared memory', async (t) => {
  const shared = Buffer.alloc(65_536)
  const queue = new ReadQueue(shared)
  const received: string[] = []
  const receiver = (name: string) => ({
    receiveDeferred: (length: number) =>
      void received.push(`${name}: ${shared.toString('latin1', 0, length)}`),
  })
  for (const [name, text] of [
    ['one', 'hello'],
    ['two', 'hi'],
    ['one', 'good morning'],
  ] as const) {
    shared.fill('~').write(text)
    t.ok(queue.add(receiver(name), text.length))
  }
  t.strictSame(received, [])
  queue.deliver()
  t.strictSame(received, ['one: hello', 'two: hi', 'one: good morning'])
  queue.deliver()
  t.equal(received.length, 3, 'once')
})

t.test('it holds 128 KiB at a time', async (t) => {
  const shared = Buffer.alloc(65_536)
  const queue = new ReadQueue(shared)
  let bytes = 0
  function receiveDeferred(length: number): void {
    bytes += length
  }
  const receiver = { receiveDeferred }
  t.ok(queue.add(receiver, 65_536))
  t.ok(queue.add(receiver, 65_535))
  t.notOk(queue.add(receiver, 2), 'one too many')
  t.ok(queue.add(receiver, 1))
  t.notOk(queue.add(receiver, 65_536), 'far too many')
  queue.deliver()
  t.equal(bytes, 131_072)
  t.ok(queue.add(receiver, 65_536), 'and then again')
})

t.test('an error of one receiver is thrown once all others have got their data', async (t) => {
  const shared = Buffer.alloc(65_536)
  const queue = new ReadQueue(shared)
  const received: string[] = []
  const receiver = {
    receiveDeferred: (length: number) => {
      const text = shared.toString('latin1', 0, length)
      received.push(text)
      if (text.startsWith('bad')) throw new Error(text)
    },
  }
  for (const text of ['one', 'bad 1', 'two', 'bad 2', 'three']) {
    shared.write(text)
    queue.add(receiver, text.length)
  }
  t.throws(() => queue.deliver(), new Error('bad 1'))
  t.strictSame(received, ['one', 'bad 1', 'two', 'bad 2', 'three'])
})
