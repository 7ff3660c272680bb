import { once } from 'node:events'
import t from 'tap'
import { writeDirectly } from '#http/socket-writes.ts'
import { until } from '../../setup/net.ts'
import { connectSocketPair } from '../../setup/socket-pair.ts'

const never = () => {}

t.test('a small text is passed to the system at once', async (t) => {
  const { socket, received } = await connectSocketPair(t)
  t.equal(writeDirectly(socket, 'caf\xe9', never), true)
  t.equal(socket.bytesWritten, 4)
  await until('it has come', () => received() === 'caf\xe9')
})

t.test('what is longer, or comes after what the stream has to write, is left to the stream', async (t) => {
  const { socket, other } = await connectSocketPair(t)
  t.equal(writeDirectly(socket, 'x'.repeat(16_384), never), true, 'at the limit')
  t.equal(writeDirectly(socket, 'x'.repeat(16_385), never), undefined, 'one over')
  other.pause()
  while (socket.writableLength === 0) socket.write(Buffer.alloc(1_048_576))
  t.equal(writeDirectly(socket, 'x', never), undefined)
})

t.test('what the system does not take at once is reported once it has', async (t) => {
  const { socket, other } = await connectSocketPair(t)
  other.pause()
  const pieces = 4_096
  let isWritten = false
  let written = 0
  for (; written < pieces; written++) {
    const isTaken = writeDirectly(socket, 'x'.repeat(16_384), () => {
      isWritten = true
    })
    if (isTaken !== true) break
  }
  t.ok(written < pieces, 'the other end reads nothing')
  t.notOk(isWritten)
  let bytes = 0
  other.on('data', (data: Buffer) => {
    bytes += data.length
  })
  other.resume()
  await until('it is written', () => isWritten)
  await until('all has come', () => bytes === (written + 1) * 16_384)
})

t.test('a failed write is left to the stream, which closes the socket with its error', async (t) => {
  const { socket, other } = await connectSocketPair(t)
  other.resetAndDestroy()
  const failed = once(socket, 'error')
  await until('it cannot be written', () => writeDirectly(socket, 'x', never) === undefined)
  socket.write('x')
  const [error] = await failed
  t.match(error, { code: /^(?:EPIPE|ECONNRESET)$/ })
  t.equal(writeDirectly(socket, 'x', never), undefined, 'and it is not written to again')
})
