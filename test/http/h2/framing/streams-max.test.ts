import t, { type Test } from 'tap'
import { FrameConnection } from '#http/h2/framing/frame-connection.ts'
import { until } from '../../../setup/net.ts'
import { connectSocketPair } from '../../../setup/socket-pair.ts'
import { postBlock } from '../flow.ts'
import { createFrameReader, endHeaders, frame, frameTypes } from '../frames.ts'

const streamsMax = 10
const refusedStream = 7
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** Opens so many streams, none of which ends. @returns the IDs of those that are handed on, and of those refused */
async function openStreams(t: Test, count: number) {
  const { socket, other } = await connectSocketPair(t)
  const opened: number[] = []
  const refused: number[] = []
  let hasAnsweredPing = false
  const read = createFrameReader(({ type, streamId, payload }) => {
    if (type === frameTypes.ping) hasAnsweredPing = true
    if (type === frameTypes.resetStream && payload.readUInt32BE(0) === refusedStream) refused.push(streamId)
  })
  other.on('data', (text: string) => read(Buffer.from(text, 'latin1')))
  const connection = new FrameConnection(
    socket,
    { isServer: true, settings: {}, windowBytes: 65_535, streamsMax, headSizeMax: () => 1_000 },
    {
      onStream: ({ id }) => void opened.push(id),
      onSettings: () => {},
      onGoaway: () => {},
      onPing: () => {},
      onClose: () => {},
    },
  )
  const heads = Array.from({ length: count }, (_, index) =>
    frame('headers', endHeaders, 2 * index + 1, postBlock('/')),
  )
  const ping = frame('ping', 0, 0, Buffer.alloc(8))
  connection.receive(Buffer.concat([preface, frame('settings', 0, 0), ...heads, ping]))
  await until('what was sent is answered', () => hasAnsweredPing || undefined)
  return { opened, refused }
}

t.test('a connection has as many streams at a time as allowed, and refuses the others', async (t) => {
  const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => 2 * (from + at) + 1)
  for (const count of [streamsMax - 1, streamsMax, streamsMax + 1, 10 * streamsMax]) {
    const taken = Math.min(count, streamsMax)
    t.strictSame(
      await openStreams(t, count),
      { opened: ids(0, taken), refused: ids(taken, count) },
      `${count} streams`,
    )
  }
})
