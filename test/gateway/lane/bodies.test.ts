import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { smallChunkBytesMax } from '#http/read-memory.ts'
import { connectedSockets } from '../../http/outgoing/connected-sockets.ts'
import { createRandom } from '../../http/outgoing/random.ts'
import { startBackend, startServer } from '../../setup/backend.ts'
import { freePort, until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { connectProxy, headOf, startProxy, untilInFlight } from '../forward/proxies.ts'

const random = createRandom(47)
const bodyOf = (length: number) => random.bytes(length).toString('latin1')
const postOf = (path: string, body: string) =>
  headOf(`POST ${path} HTTP/1.1`, `Content-Length: ${body.length}`) + body

/** A backend that answers what comes to `/held` once it is told to. */
async function startHolding(t: Test) {
  const held: (() => void)[] = []
  const backend = await startBackend(t, (request, response) => {
    if (request.url === '/held') held.push(() => response.end('ok'))
    else response.end('ok')
  })
  return { ...backend, held }
}

t.test('a body that comes with its head goes on byte for byte, and what follows it too', async (t) => {
  const backend = await startBackend(t)
  const client = await connectProxy(t, backend.url)
  for (const length of [1, smallChunkBytesMax - 1, smallChunkBytesMax, smallChunkBytesMax + 1, 1_048_576]) {
    const [first, second] = [bodyOf(length), bodyOf(length)]
    client.send(postOf('/first', first) + postOf('/second', second) + headOf('GET /third HTTP/1.1'))
    for (let turn = 0; turn < 3; turn++) t.equal((await client.response()).body, 'ok')
    const seen = backend.seen.splice(0)
    t.strictSame(
      seen.map(({ url, headers }) => [url, headers['content-length']]),
      [
        ['/first', String(length)],
        ['/second', String(length)],
        ['/third', undefined],
      ],
    )
    t.ok(seen[0]?.body === first, `of ${length} bytes`)
    t.ok(seen[1]?.body === second, `and another of ${length} bytes`)
  }
})

t.test('one that comes in pieces does as well', async (t) => {
  const backend = await startBackend(t)
  const client = await connectProxy(t, backend.url)
  const body = bodyOf(4_000)
  const sent = postOf('/', body)
  for (const length of [sent.length - body.length, sent.length - body.length + 1, sent.length - 1]) {
    client.send(sent.slice(0, length))
    await new Promise((resolve) => setImmediate(resolve))
    client.send(sent.slice(length))
    t.equal((await client.response()).body, 'ok')
    t.ok(backend.last().body === body)
  }
})

t.test('a body that waits for a connection stays as it was', async (t) => {
  const backend = await startHolding(t)
  const gateway = await startProxy(t, backend.url, { upstream: { connections: 1 } })
  const { url } = gateway
  const [first, client, other] = [
    await connectRaw(t, url),
    await connectRaw(t, url),
    await connectRaw(t, url),
  ]
  first.send(headOf('GET /held HTTP/1.1'))
  await until('the connection is in use', () => backend.held.length > 0)
  const body = bodyOf(smallChunkBytesMax)
  client.send(postOf('/waiting', body))
  await untilInFlight(gateway, 2)
  // Into the memory that it was read into.
  other.send(postOf('/also', bodyOf(smallChunkBytesMax)))
  await untilInFlight(gateway, 3)
  for (const answer of backend.held) answer()
  t.equal((await first.response()).body, 'ok')
  t.equal((await client.response()).body, 'ok')
  t.ok(backend.seen.find((request) => request.url === '/waiting')?.body === body)
})

t.test('nothing of it is sent if its client leaves meanwhile', async (t) => {
  const backend = await startHolding(t)
  const gateway = await startProxy(t, backend.url, { upstream: { connections: 1 } })
  const [first, client] = [await connectRaw(t, gateway.url), await connectRaw(t, gateway.url)]
  first.send(headOf('GET /held HTTP/1.1'))
  await until('the connection is in use', () => backend.held.length > 0)
  client.send(postOf('/waiting', bodyOf(100)))
  await untilInFlight(gateway, 2)
  client.close()
  await untilInFlight(gateway, 1)
  first.send(headOf('GET /next HTTP/1.1'))
  for (const answer of backend.held) answer()
  await first.response()
  await first.response()
  t.strictSame(
    backend.seen.map((request) => request.url),
    ['/held', '/next'],
  )
})

t.test('if a target cannot be reached, another one gets it', async (t) => {
  const backend = await startBackend(t)
  const targets = [{ url: `http://127.0.0.1:${await freePort()}` }, { url: backend.url }]
  const client = await connectProxy(t, backend.url, { upstream: { targets, retries: { attempts: 1 } } })
  for (let count = 0; count < 4; count++) {
    const body = bodyOf(smallChunkBytesMax - count)
    t.equal((await client.send(postOf('/', body)).response()).status, 200)
    t.ok(backend.last().body === body)
  }
})

/** Breaks the connection when something is to be written on it, but before it is. */
function breakBeforeWrite(socket: Socket): void {
  Object.defineProperty(socket, 'writableLength', {
    get: () => {
      queueMicrotask(() => socket.destroy())
      return 0
    },
  })
}

t.test('if its connection is lost before it is written, it is sent on another one', async (t) => {
  const seen: string[] = []
  const url = await startServer(t, async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('latin1')) body += chunk
    seen.push(body)
    response.end('ok')
  })
  const client = await connectProxy(t, url)
  const sockets = connectedSockets(t)
  client.send(headOf('GET / HTTP/1.1'))
  await client.response()
  t.equal(sockets.length, 1)
  for (const socket of sockets) breakBeforeWrite(socket)
  const body = bodyOf(10_240)
  t.equal((await client.send(postOf('/', body)).response()).status, 200)
  t.equal(sockets.length, 2)
  t.ok(seen[1] === body)
})
