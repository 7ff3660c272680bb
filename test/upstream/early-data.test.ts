import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { sharedBuffer } from '../../src/http1/read-buffers.ts'
import { PooledSocketReader } from '../../src/http1/socket-reader.ts'
import { Connection } from '../../src/upstream/connection.ts'
import type { UpstreamFailure } from '../../src/upstream/failure.ts'
import { answerOf, startHeadBackend } from './backends.ts'

/** A connection to a target that never answers, and what delivers data as if they had come from it now. */
async function openConnection(t: Test) {
  const { url, heads } = await startHeadBackend(t, () => {})
  const reader = new PooledSocketReader()
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', onread: reader.onread })
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  const deliver = (text: string) => reader.onread.callback(sharedBuffer.write(text, 'latin1'), sharedBuffer)
  return { connection: new Connection(socket, reader), socket, deliver, heads }
}

function send(connection: Connection) {
  const events: (string | UpstreamFailure)[] = []
  const options = { method: 'GET', isUpgrade: false, body: 'none', isLast: false } as const
  connection.start(
    'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
    { ...options, responseTimeoutMs: 5_000, idleTimeoutMs: 5_000 },
    {
      onInformation: () => events.push('information'),
      onHead: () => events.push('head'),
      onData: () => events.push('data'),
      onRead: () => true,
      onEnd: () => events.push('end'),
      onUpgrade: () => events.push('upgrade'),
      onDrain: () => events.push('drain'),
      onFailure: (failure) => events.push(failure),
    },
    performance.now(),
  )
  return events
}

t.test('what comes from a target before it was sent the request is no answer to it', async (t) => {
  const { connection, socket, deliver, heads } = await openConnection(t)
  const events = send(connection)
  deliver(answerOf('early'))
  t.match(events, [{ reason: 'closed-early' }])
  t.ok(socket.destroyed)
  await once(socket, 'close')
  t.strictSame(heads, [], 'nor is the request sent')
})

t.test('what comes after it is', async (t) => {
  const { connection, deliver } = await openConnection(t)
  const events = send(connection)
  await new Promise((resolve) => setImmediate(resolve))
  deliver(answerOf('ok'))
  t.strictSame(events, ['head', 'data', 'end'])
})
