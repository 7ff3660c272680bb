import t from 'tap'
import { smallChunkBytesMax } from '#http/read-memory.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { answerWith, listen } from './listen.ts'

/** Answers with what it takes of each body, or with what is delivered if it takes none. */
async function listenAndTake(t: Parameters<typeof listen>[0]) {
  const { port, connections } = await listen(
    t,
    (connection) => {
      const taken = connection.takeBody()
      if (taken !== undefined || connection.bodyState === 'complete') {
        const again = connection.takeBody() === undefined ? '' : ', twice'
        answerWith(connection, `${connection.bodyState} ${taken?.toString('latin1')}${again}`)
        return
      }
      let delivered = ''
      connection.attach({
        onBodyData: (chunk) => {
          delivered += chunk.toString('latin1')
        },
        isChunkReleased: () => false,
        onBodyEnd: () => answerWith(connection, `delivered ${delivered}`),
        onBodyError: () => connection.abort(),
        onClientDrain: () => {},
        onAbort: () => {},
      })
      // Later: what came with the head cannot be taken any more, as its memory is in use again.
      setImmediate(() => {
        if (connection.takeBody() !== undefined) connection.abort()
        else connection.resumeBody()
      })
    },
    { requestTimeoutMs: 30_000, tls: undefined },
  )
  return { client: await connectRaw(t, `http://127.0.0.1:${port}`), connections }
}

const post = (body: string) => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`

t.test('a counted body that comes whole with its head is taken, up to a length', async (t) => {
  const { client } = await listenAndTake(t)
  const [least, most] = ['x', 'y'.repeat(smallChunkBytesMax)]
  for (const body of [least, most])
    t.equal((await client.send(post(body)).response()).body, `complete ${body}`)
  for (const body of [`${most}z`, 'z'.repeat(10 * smallChunkBytesMax)])
    t.equal((await client.send(post(body)).response()).body, `delivered ${body}`)
})

t.test('what follows it is the next request', async (t) => {
  const { client } = await listenAndTake(t)
  client.send(post('first') + post('second') + post('') + post('th'))
  t.equal((await client.response()).body, 'complete first')
  t.equal((await client.response()).body, 'complete second')
  t.equal((await client.response()).body, 'complete undefined')
  t.equal((await client.response()).body, 'complete th')
})

t.test('without a body, in chunks or in pieces nothing is taken', async (t) => {
  const { client, connections } = await listenAndTake(t)
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  t.equal((await client.response()).body, 'complete undefined')
  client.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n')
  t.equal((await client.response()).body, 'delivered body')
  const whole = post('body')
  const [connection] = connections
  for (let cut = whole.length - 4; cut < whole.length; cut++) {
    const before = connection?.socket.bytesRead ?? 0
    client.send(whole.slice(0, cut))
    await until('it was read', () => connection?.socket.bytesRead === before + cut)
    t.equal((await client.send(whole.slice(cut)).response()).body, 'delivered body')
  }
})
