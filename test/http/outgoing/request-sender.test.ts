import { once } from 'node:events'
import t, { type Test } from 'tap'
import { RequestSender } from '#http/outgoing/request-sender.ts'
import { until } from '../../setup/net.ts'
import { connectSocketPair } from '../../setup/socket-pair.ts'

async function start(t: Test) {
  const pair = await connectSocketPair(t)
  return { ...pair, sender: new RequestSender(pair.socket) }
}

const head = 'POST /\xfc HTTP/1.1\r\n\r\n'
/** Up to 16 KiB go with the head. */
const sizes = [0, 1, 16_383, 16_384, 16_385, 1_000_000]

for (const body of ['counted', 'chunked'] as const) {
  t.test(`head, ${body} body and end of a request arrive in order`, async (t) => {
    const { sender, received } = await start(t)
    let expected = ''
    for (const [index, size] of sizes.entries()) {
      const chunks = [Buffer.alloc(size, 'a\xff', 'latin1'), Buffer.alloc(size, 'b')]
      sender.begin(head, body)
      for (const chunk of chunks) sender.write(chunk)
      const trailers = index % 2 === 0 ? '' : 'X-T: 1\r\n'
      sender.end(trailers)
      const framed = chunks
        .filter(({ length }) => length > 0)
        .map((chunk) => chunk.toString('latin1'))
        .map((text) => (body === 'chunked' ? `${text.length.toString(16)}\r\n${text}\r\n` : text))
      expected += head + framed.join('') + (body === 'chunked' ? `0\r\n${trailers}\r\n` : '')
    }
    await until('all has come', () => received().length >= expected.length)
    t.ok(received() === expected)
  })
}

t.test('a request head is sent in the same turn', async (t) => {
  const { sender, received } = await start(t)
  for (const [index, body] of (['none', 'counted', 'chunked'] as const).entries()) {
    sender.begin(head, body)
    await until('it has come', () => received() === head.repeat(index + 1))
  }
})

t.test('body bytes that come with the head are sent in one write with it', async (t) => {
  const { socket, sender } = await start(t)
  const writes = t.capture(socket, 'write', socket.write)
  for (const body of ['counted', 'chunked'] as const) {
    sender.begin(head, body)
    sender.write(Buffer.alloc(16_384))
    t.equal(writes().length, 0)
    t.ok(sender.isPending)
    await new Promise((resolve) => setImmediate(resolve))
    t.equal(writes().length, 1)
    t.notOk(sender.isPending)
  }
})

t.test('pieces stay intact that the system does not take at once', async (t) => {
  const [slow, fast] = [await start(t), await start(t)]
  slow.other.pause()
  const lent = Buffer.alloc(16_384)
  let sent = ''
  slow.sender.begin(head, 'counted')
  for (let index = 0; slow.socket.writableLength === 0; index++) {
    const letter = String.fromCharCode(97 + (index % 26))
    slow.sender.write(lent.fill(letter))
    sent += letter.repeat(lent.length)
  }
  // It overwrites what every socket shares.
  fast.sender.begin(head, 'counted')
  fast.sender.write(lent.fill('-'))
  slow.other.resume()
  await until('all has come', () => slow.received().length >= head.length + sent.length)
  t.ok(slow.received() === head + sent)
})

t.test('pieces of one turn do not overwrite each other, however many', async (t) => {
  const others = await Promise.all(Array.from({ length: 50 }, () => start(t)))
  const letterOf = (index: number) => String.fromCharCode(97 + (index % 26))
  const lent = Buffer.alloc(16_384)
  for (let round = 0; round < 3; round++) {
    for (const [index, { sender }] of others.entries()) {
      if (round === 0) sender.begin(head, 'counted')
      sender.write(lent.fill(letterOf(index + round)))
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const [index, { received }] of others.entries()) {
    const expected = head + [0, 1, 2].map((round) => letterOf(index + round).repeat(lent.length)).join('')
    await until('all has come', () => received().length >= expected.length)
    t.ok(received() === expected)
  }
})

t.test('a piece that the socket does not want to buffer is written at once, and says so', async (t) => {
  const { socket, other, sender } = await start(t)
  other.pause()
  const piece = Buffer.alloc(16_384)
  sender.begin(head, 'counted')
  let pieces = 1
  for (; sender.write(piece); pieces++) await new Promise((resolve) => setImmediate(resolve))
  t.ok(socket.writableNeedDrain, `after ${pieces} pieces`)
  const drained = once(socket, 'drain')
  other.resume()
  await drained
})

t.test('an abandoned connection is not written to', async (t) => {
  const { socket, sender } = await start(t)
  let errors = 0
  socket.on('error', () => errors++)
  sender.begin(head, 'counted')
  socket.destroy()
  await once(socket, 'close')
  t.equal(errors, 0)
})
