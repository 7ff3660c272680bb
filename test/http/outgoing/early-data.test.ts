import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { UpstreamFailure } from '#http/outgoing/failure.ts'
import { Http1Connection } from '#http/outgoing/http1-connection.ts'
import { sharedBuffer } from '#http/read-memory.ts'
import { PooledSocketReader } from '#http/socket-reader.ts'
import { answerOf, startHeadBackend } from './backends.ts'

/** A connection to a target that never answers, and what delivers data as if they had come from it now. */
async function openConnection(t: Test) {
  const { url, heads } = await startHeadBackend(t, () => {})
  const reader = new PooledSocketReader()
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', onread: reader.onread })
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  const deliver = (text: string) => reader.onread.callback(sharedBuffer.write(text, 'latin1'), sharedBuffer)
  return { connection: new Http1Connection(socket, reader), socket, deliver, heads }
}

function send(connection: Http1Connection, method: 'GET' | 'POST' = 'GET') {
  const events: (string | UpstreamFailure)[] = []
  const body = method === 'GET' ? 'none' : 'counted'
  const options = {
    method,
    isUpgrade: false,
    body,
    isLast: false,
    bindsConnection: false,
    expectsContinue: false,
  } as const
  connection.start(
    `${method} / HTTP/1.1\r\nHost: a\r\n${method === 'POST' ? 'Content-Length: 10\r\n' : ''}\r\n`,
    { ...options, responseTimeoutMs: 5_000, idleTimeoutMs: 5_000 },
    {
      onInformation: () => events.push('information'),
      onHead: () => events.push('head'),
      onData: () => events.push('data'),
      onRead: () => true,
      onEnd: (_trailers, last = '') => events.push(...(last === '' ? [] : ['data']), 'end'),
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
  await nextTurn()
  deliver(answerOf('ok'))
  await nextTurn()
  t.strictSame(events, ['head', 'data', 'end'])
})

t.test('what comes while no request waits for it is noticed at once', async (t) => {
  const { connection, deliver } = await openConnection(t)
  const events = send(connection)
  await nextTurn()
  deliver(answerOf('ok'))
  await nextTurn()
  t.ok(connection.isOpen)
  deliver(answerOf('unasked'))
  t.notOk(connection.isOpen, 'so no request is sent on it')
  t.strictSame(events, ['head', 'data', 'end'])
})

t.test('nor before any of a request with a body was', async (t) => {
  const { connection, socket, deliver, heads } = await openConnection(t)
  const events = send(connection, 'POST')
  connection.write(Buffer.from('0123456789'))
  connection.finish('')
  deliver(answerOf('early'))
  t.match(events, [{ reason: 'closed-early' }])
  await once(socket, 'close')
  t.strictSame(heads, [])
})

t.test('the rest of a body that was put off is written before its answer is read', async (t) => {
  const { connection, socket, deliver } = await openConnection(t)
  const events = send(connection, 'POST')
  const { write } = socket
  t.intercept(socket, 'write', {
    value: (...args: Parameters<typeof write>) => {
      events.push('write')
      return write.apply(socket, args)
    },
  })
  connection.write(Buffer.from('01234'))
  await nextTurn()
  t.strictSame(events, ['write'])
  connection.write(Buffer.from('56789'))
  connection.finish('')
  t.strictSame(events, ['write'])
  deliver(answerOf('ok'))
  await nextTurn()
  t.strictSame(events, ['write', 'write', 'head', 'data', 'end'])
})
