import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { sharedBuffer } from '#http/read-memory.ts'
import { deferredBytesMax } from '#http/read-queue.ts'
import { DirectSocketReader, PooledSocketReader } from '#http/socket-reader.ts'
import { portOf, until } from '../setup/net.ts'

/** A connection of which both ends belong to this process: the accepted one, and a client. */
async function openPair(t: Test) {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const client = connect(portOf(server), '127.0.0.1').resume()
  const [accepted] = (await once(server, 'connection')) as [Socket]
  t.teardown(() => accepted.destroy())
  t.teardown(() => client.destroy())
  return { client, accepted, port: portOf(server), server }
}

/** Runs in the turn in which the socket has read so much, before that is delivered. */
function onceRead(socket: Socket, bytes: number, run: () => void): void {
  if (socket.bytesRead < bytes) setImmediate(onceRead, socket, bytes, run)
  else run()
}

t.test('small data is delivered once all is read, and the end after it', async (t) => {
  const { client, accepted } = await openPair(t)
  const events: string[] = []
  const reader = new DirectSocketReader(
    accepted,
    (chunk) => {
      events.push(`${chunk}`)
      return false
    },
    true,
  )
  accepted.on('end', () => {
    reader.deliverDeferred()
    events.push('end')
  })
  client.end('hello')
  await until('it has ended', () => events.includes('end') || undefined)
  t.strictSame(events, ['hello', 'end'])
})

for (const length of [deferredBytesMax - 1, deferredBytesMax, deferredBytesMax + 1, 60_000]) {
  t.test(`all of ${length} bytes come, in their order`, async (t) => {
    const { client, accepted } = await openPair(t)
    const received: Buffer[] = []
    new DirectSocketReader(
      accepted,
      (chunk) => {
        received.push(Buffer.from(chunk))
        return false
      },
      true,
    )
    const sent = Buffer.from(Array.from({ length }, (_, index) => index % 251))
    client.write(sent)
    await until('all has come', () => Buffer.concat(received).length === length || undefined)
    t.ok(Buffer.concat(received).equals(sent))
  })
}

t.test('responses are delivered before requests of the same turn', async (t) => {
  const { client, accepted, port, server } = await openPair(t)
  const order: string[] = []
  new DirectSocketReader(
    accepted,
    () => {
      order.push('request')
      return false
    },
    true,
  )
  const reader = new PooledSocketReader()
  const upstream = connect({ port, host: '127.0.0.1', onread: reader.onread })
  const [target] = (await once(server, 'connection')) as [Socket]
  const receive = () => {
    order.push('response')
    return false
  }
  reader.attach(upstream, receive, () => true)
  t.teardown(() => upstream.destroy())
  t.teardown(() => target.destroy())
  for (let round = 1; round <= 20; round++) {
    client.write('x')
    target.write('y')
    await until('both have come', () => order.length === 2 * round || undefined)
  }
  const isAlone = (index: number) => order[index] === 'request' && order[index + 1] === 'response'
  const rounds = Array.from({ length: 20 }, (_, index) => 2 * index)
  t.ok(
    rounds.some((index) => !isAlone(index)),
    'the client wrote first, and yet comes last',
  )
})

for (const mayDefer of [true, false]) {
  t.test(
    `what ${mayDefer ? 'may' : 'may not'} wait is delivered ${mayDefer ? 'later' : 'at once'}`,
    async (t) => {
      const { client, accepted } = await openPair(t)
      let received = ''
      const receive = (chunk: Buffer) => {
        received += String(chunk)
        return false
      }
      new DirectSocketReader(accepted, receive, mayDefer)
      const seen: string[] = []
      onceRead(accepted, 5, () => seen.push(received))
      client.write('hello')
      await until('it has come', () => (received === 'hello' && seen.length > 0) || undefined)
      t.strictSame(seen, [mayDefer ? '' : 'hello'])
    },
  )
}

t.test('what is read before earlier data was delivered comes after it', async (t) => {
  const received: string[] = []
  const reader = new PooledSocketReader()
  const receive = (chunk: Buffer) => {
    received.push(String(chunk))
    return false
  }
  const { client } = await openPair(t)
  reader.attach(client, receive, () => true)
  for (const text of ['one', 'two', 'three'])
    t.ok(reader.onread.callback(sharedBuffer.write(text), sharedBuffer))
  t.strictSame(received, ['one', 'two'], 'the second has the first delivered')
  await nextTurn()
  t.strictSame(received, ['one', 'two', 'three'])
})

t.test('what is read after a release does not wait', async (t) => {
  const { client, accepted } = await openPair(t)
  const reader = new DirectSocketReader(accepted, () => false, true)
  reader.release()
  let received = ''
  accepted.on('data', (chunk) => {
    received += String(chunk)
  })
  const seen: string[] = []
  onceRead(accepted, 5, () => seen.push(received))
  client.write('hello')
  await until('it has come', () => (received === 'hello' && seen.length > 0) || undefined)
  t.strictSame(seen, ['hello'])
})

for (const hasNewReader of [true, false]) {
  const owner = hasNewReader ? 'another reader' : 'an ordinary stream'
  t.test(`what is read in the turn of a release goes to the new owner: ${owner}`, async (t) => {
    const { client, accepted } = await openPair(t)
    const received: string[] = []
    const receive = (chunk: Buffer) => {
      received.push(`second: ${chunk}`)
      return false
    }
    const first = new DirectSocketReader(
      accepted,
      (chunk) => {
        received.push(`first: ${chunk}`)
        first.release()
        if (hasNewReader) new DirectSocketReader(accepted, receive)
        else accepted.on('data', receive)
        return false
      },
      true,
    )
    for (const text of ['one', 'two']) first.receive(sharedBuffer.write(text))
    t.strictSame(received, ['first: one', 'second: two'])
    client.write('three')
    await until('more has come', () => received.length === 3 || undefined)
    t.strictSame(received, ['first: one', 'second: two', 'second: three'])
    let isEnded = false
    accepted.on('end', () => {
      isEnded = true
    })
    client.end()
    await until('it has ended', () => isEnded || undefined)
  })
}
