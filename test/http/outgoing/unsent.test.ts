import t, { type Test } from 'tap'
import { startServer } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { connectedSockets } from './connected-sockets.ts'
import { exchange, openTestUpstream, request } from './exchange.ts'

/** An upstream with one idle connection, before a backend that says what it got. */
async function openIdle(t: Test) {
  const seen: string[] = []
  const url = await startServer(t, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push(`${request.method} ${body}`)
    response.end(body)
  })
  const sockets = connectedSockets(t)
  const upstream = openTestUpstream(t, url)
  await request(upstream)
  seen.length = 0
  return { upstream, sockets, seen }
}

t.test(
  'a request of which nothing was written is sent on another connection, whatever its method',
  async (t) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { upstream, sockets, seen } = await openIdle(t)
      const { answer } = exchange(upstream, { method })
      sockets[0]?.destroy()
      t.equal((await answer).head.status, 200, method)
      t.strictSame([seen, sockets.length], [[`${method} `], 2])
    }
  },
)

const counted = (bytes: number) => ({ body: 'counted', lines: `Content-Length: ${bytes}\r\n` }) as const

t.test('and so is its body, however much of it had come', async (t) => {
  const chunked = { body: 'chunked', lines: 'Transfer-Encoding: chunked\r\n' } as const
  for (const framing of [counted(8), chunked]) {
    for (const taken of ['', 'some']) {
      const { upstream, sockets, seen } = await openIdle(t)
      const { call, answer, events } = exchange(upstream, { method: 'POST', ...framing })
      if (taken !== '') call.write(Buffer.from(taken))
      sockets[0]?.destroy()
      await until('there is another connection', () => events.lastIndexOf('sent') > 0 || undefined)
      call.write(Buffer.from('somemore'.slice(taken.length)))
      call.finish('')
      t.equal((await answer).body, 'somemore', `${framing.body}, ${taken}`)
      t.strictSame([seen, sockets.length], [['POST somemore'], 2])
    }
  }
})

t.test('also one that was complete', async (t) => {
  const { upstream, sockets, seen } = await openIdle(t)
  const { call, answer } = exchange(upstream, { method: 'PUT', ...counted(4) })
  call.write(Buffer.from('some'))
  call.finish('')
  sockets[0]?.destroy()
  t.equal((await answer).body, 'some')
  t.strictSame([seen, sockets.length], [['PUT some'], 2])
})

t.test('and one of which a piece comes before the loss of the connection is reported', async (t) => {
  for (const bytes of [4, 16_384, 20_000]) {
    const { upstream, sockets, seen } = await openIdle(t)
    const { call, answer } = exchange(upstream, { method: 'POST', ...counted(bytes) })
    sockets[0]?.destroy()
    call.write(Buffer.alloc(bytes, 'x'))
    call.finish('')
    t.equal((await answer).body, 'x'.repeat(bytes))
    t.equal(seen.length, 1)
  }
})

t.test('but not one of which several come: not all of them are kept', async (t) => {
  const { upstream, sockets, seen } = await openIdle(t)
  const { call, failure } = exchange(upstream, {
    method: 'POST',
    body: 'chunked',
    lines: 'Transfer-Encoding: chunked\r\n',
  })
  call.write(Buffer.from('so'))
  sockets[0]?.destroy()
  call.write(Buffer.from('me'))
  call.finish('')
  t.equal((await failure).reason, 'closed-early')
  t.strictSame([seen, sockets.length], [[], 1])
})

t.test('one of which something was written is not', async (t) => {
  const { upstream, sockets, seen } = await openIdle(t)
  const { call, failure } = exchange(upstream, { method: 'POST', ...counted(8) })
  call.write(Buffer.from('some'))
  await new Promise((resolve) => setImmediate(resolve))
  sockets[0]?.destroy()
  t.equal((await failure).reason, 'closed-early')
  t.strictSame([seen, sockets.length], [[], 1])
})
