import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { inTime, signalAtDeadline, startDeadline } from '#platform/deadline.ts'
import { DeadlineSweep, type Expiring } from '#platform/deadline-sweep.ts'
import { portOf, until } from '../setup/net.ts'
import { startPromise } from '../setup/promise-of-time.ts'
import { standStill } from '../setup/stand-still.ts'

/** A server in another thread, which goes on while this one stands still: it answers each line after some time. */
async function startEcho(t: Test, answerAfterMs = 0) {
  const answers = new Int32Array(new SharedArrayBuffer(4))
  const program = `
    const { createServer } = require('node:net')
    const { parentPort, workerData: answers } = require('node:worker_threads')
    const answer = (socket, data) => socket.write(data, () => {
      Atomics.add(answers, 0, 1)
      Atomics.notify(answers, 0)
    })
    const server = createServer((socket) => {
      socket.on('data', (data) => setTimeout(() => answer(socket, data), ${answerAfterMs}))
    })
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
  `
  const worker = new Worker(program, { eval: true, workerData: answers })
  t.teardown(() => worker.terminate())
  const [port] = (await once(worker, 'message')) as [number]
  const socket = connect(port, '127.0.0.1').setNoDelay(true)
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  const ask = async (text: string) => {
    socket.write(text)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    return String(answer)
  }
  t.equal(await ask('first'), 'first')
  /** Blocks the event loop until one more answer has been sent to it, and for at least so long. */
  const standStillUntilAnswered = (forMs: number) => {
    Atomics.wait(answers, 0, 1, 10_000)
    standStill(forMs)
  }
  return { socket, ask, standStillUntilAnswered }
}

/** A connection to a server that never answers. */
async function connectToSilence(t: Test): Promise<Socket> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect(portOf(server), '127.0.0.1')
  t.teardown(() => {
    socket.destroy()
    server.close()
  })
  await once(socket, 'connect')
  return socket
}

const late = () => new Error('late')

/** The second half of it begins anew after a standstill. */
const timeoutMs = 200

for (const standstillMs of [190, 210, 300, 1_500]) {
  t.test(`an answer that came while the loop stood still for ${standstillMs} ms is in time`, async (t) => {
    const { ask, standStillUntilAnswered } = await startEcho(t)
    const answer = inTime(ask('next'), timeoutMs, late)
    standStillUntilAnswered(standstillMs)
    t.equal(await answer, 'next')
  })

  t.test(`so is the answer to what could only be sent after ${standstillMs} ms`, async (t) => {
    const { socket, ask } = await startEcho(t, 20)
    socket.cork()
    const answer = inTime(ask('next'), timeoutMs, late)
    setImmediate(() => socket.uncork())
    standStill(standstillMs)
    t.equal(await answer, 'next')
  })
}

t.test('where nothing comes the deadline is kept, and soon after a standstill', async (t) => {
  await connectToSilence(t)
  for (const [standstillMs, withinMs] of [
    [0, 100],
    [300, 500],
  ] as const) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const startedAt = performance.now()
    const assertInTime = startPromise(t, withinMs)
    startDeadline(50, resolve)
    standStill(standstillMs)
    await promise
    assertInTime()
    const tookMs = performance.now() - startedAt
    t.ok(tookMs >= 49, `not before: ${tookMs.toFixed(1)} ms`)
  }
})

t.test('a deadline that is cleared does not fire, also where it is late', async (t) => {
  let fired = 0
  const both = [startDeadline(5, () => fired++), startDeadline(5, () => fired++)]
  standStill(50)
  both[0]?.clear()
  await until('the other fires', () => fired > 0 || undefined)
  // After all that was due then.
  await once(signalAtDeadline(20).signal, 'abort')
  t.equal(fired, 1)
})

t.test('a signal at a deadline says that it is a timeout, or nothing once it is cleared', async (t) => {
  const { signal } = signalAtDeadline(5)
  await once(signal, 'abort')
  t.match(signal.reason, { name: 'TimeoutError' })
  const cleared = signalAtDeadline(5)
  cleared.clear()
  const other = signalAtDeadline(20)
  await once(other.signal, 'abort')
  t.notOk(cleared.signal.aborted)
})

class Waiting implements Expiring {
  deadline = performance.now() + 30
  place = -1
  expiries = 0

  expire(): void {
    this.expiries++
    this.deadline = Number.POSITIVE_INFINITY
  }
}

for (const standstillMs of [60, 300, 600, 1_500]) {
  t.test(`a sweep after ${standstillMs} ms without one reads first, and then expires the rest`, async (t) => {
    const { ask, standStillUntilAnswered } = await startEcho(t)
    const sweep = new DeadlineSweep<Waiting>(10)
    const [answered, other] = [new Waiting(), new Waiting()]
    for (const item of [answered, other]) sweep.add(item)
    const answer = ask('next').then(() => sweep.remove(answered))
    standStillUntilAnswered(standstillMs)
    await answer
    await until('the other expires', () => other.expiries === 1)
    t.equal(answered.expiries, 0)
  })
}

t.test('a loop that always stands still enforces deadlines nevertheless', async (t) => {
  const sweep = new DeadlineSweep<Waiting>(10)
  const item = new Waiting()
  sweep.add(item)
  let turns = 0
  while (item.expiries === 0) {
    turns++
    standStill(40)
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.ok(turns <= 5, `after ${turns} turns`)
})

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
