import t, { type Test } from 'tap'
import { answerOf, startHeadBackend } from '../../http/outgoing/backends.ts'
import { startServer } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { connectRaw, type RawClient } from '../../setup/raw-client.ts'
import { countInFlight, headOf, startProxy, untilInFlight } from './proxies.ts'

const first = headOf('GET /first HTTP/1.1')

/** Before a backend that answers /first, which comes before all else, when the test says so, and /last at once. */
async function start(t: Test) {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    if (path === '/last') socket.write(answerOf(path))
  })
  const gateway = await startProxy(t, backend.url)

  /** A client that has sent all this and closed its side, which the gateway knows by now. */
  async function sendAndClose(sent: string): Promise<RawClient> {
    const client = await connectRaw(t, gateway.url)
    client.socket.allowHalfOpen = true
    client.send(first + sent).socket.end()
    t.equal((await client.response()).status, 102)
    backend.heads.findLast(({ path }) => path === '/first')?.socket.write(answerOf('first'))
    let response = await client.response()
    while (response.status === 102) response = await client.response()
    t.equal(response.body, 'first')
    return client
  }

  return { gateway, backend, sendAndClose }
}

t.test(
  'behind the end of a client, too, a refused request takes no answer from those behind it',
  async (t) => {
    const { sendAndClose } = await start(t)
    for (const refused of [
      headOf('GET /a/../b HTTP/1.1'),
      headOf('TRACE / HTTP/1.1'),
      `${headOf('POST /a/../b HTTP/1.1', 'Content-Length: 5')}hello`,
    ]) {
      const client = await sendAndClose(refused + refused + headOf('GET /last HTTP/1.1'))
      for (let answers = 0; answers < 2; answers++) t.match((await client.response()).status, /^40[05]$/)
      t.equal((await client.response()).body, '/last')
      await client.ended()
      t.equal(client.rest().length, 0)
    }
  },
)

t.test(
  'a request that can never become whole, as its client has closed its side, is given up at once',
  async (t) => {
    const { gateway, sendAndClose } = await start(t)
    for (const [framing, part] of [
      ['Content-Length: 10', '123'],
      ['Content-Length: 10', ''],
      ['Transfer-Encoding: chunked', '3\r\n123\r\n'],
      ['Transfer-Encoding: chunked', ''],
    ] as const) {
      const client = await sendAndClose(headOf('POST /part HTTP/1.1', framing) + part)
      await until(`${framing}, ${part}`, () => client.socket.closed, 3_000)
      await until('nothing is under way', async () => (await countInFlight(gateway)) === 0, 3_000)
    }
  },
)

t.test('a refused request that can never become complete still gets its answer', async (t) => {
  const { sendAndClose } = await start(t)
  const client = await sendAndClose(`${headOf('POST /a/../b HTTP/1.1', 'Content-Length: 10')}123`)
  t.equal((await client.response()).status, 400)
  await client.ended()
})

t.test('a body that waits for a connection is carried out, though its client closes its side', async (t) => {
  const answers = new Map<string, () => void>()
  const backend = await startServer(t, async (request, response) => {
    const chunks = await request.toArray()
    answers.set(request.url ?? '', () => response.end(`${request.url} ${chunks.join('')}`))
  })
  const upstream = { connections: 1, timeouts: { connect: '30s' } }
  const gateway = await startProxy(t, backend, { upstream })
  const [client, other] = [await connectRaw(t, gateway.url), await connectRaw(t, gateway.url)]
  const answer = async (path: string) => (await until(`${path} is asked`, () => answers.get(path)))()
  client.socket.allowHalfOpen = true
  client.send(`${first}${headOf('POST /second HTTP/1.1', 'Content-Length: 5')}hello`)
  await until('the first is asked', () => answers.get('/first'))
  // It waits for the one connection, and gets it before the second does.
  other.send(headOf('GET /other HTTP/1.1'))
  await untilInFlight(gateway, 2)
  await answer('/first')
  t.equal((await client.response()).body, '/first ')
  client.socket.end()
  for (let probes = 0; probes < 4; probes++) t.equal((await client.response()).status, 102)
  await answer('/other')
  await answer('/second')
  t.equal((await client.response()).body, '/second hello')
  await client.ended()
})
