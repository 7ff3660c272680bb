import type { IncomingMessage, ServerResponse } from 'node:http'
import t from 'tap'
import { answerOf, startHeadBackend } from '../../http/outgoing/backends.ts'
import { createRandom, cutAtRandom } from '../../http/outgoing/random.ts'
import { startServer } from '../../setup/backend.ts'
import { connectRaw, type RawClient } from '../../setup/raw-client.ts'
import { headOf, startProxy } from './proxies.ts'

const length = (count: number) => `HTTP/1.1 200 OK\r\nContent-Length: ${count}\r\n`
const evil = answerOf('evil')

/** What a target may send that is more, or less, than one answer. */
const confusing: Readonly<Record<string, string>> = {
  'with a whole answer behind it': answerOf('mine') + evil,
  'longer than it says': `${length(4)}\r\nmine${'evil'.repeat(50)}`,
  'of two lengths': `${length(4)}Content-Length: 60\r\n\r\nmine${evil}`,
  'of a length beside chunks': `${length(4)}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${evil}`,
  'without content but with a body': `HTTP/1.1 204 No Content\r\nContent-Length: 60\r\n\r\n${evil}`,
  'that was not modified but has a body': `HTTP/1.1 304 Not Modified\r\nContent-Length: 60\r\n\r\n${evil}`,
  'of chunks that go on': `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nmine\r\n0\r\n\r\n${evil}`,
  'with a bare LF behind its end': `${answerOf('mine')}\n`,
}

for (const [what, answer] of Object.entries(confusing)) {
  t.test(`an answer ${what} never reaches another client`, async (t) => {
    const backend = await startHeadBackend(t, ({ socket, path }) => {
      socket.write(path === '/victim' ? answerOf('own') : answer)
    })
    const { url } = await startProxy(t, backend.url)
    for (let turn = 0; turn < 3; turn++) {
      const attacker = await connectRaw(t, url)
      attacker.send(headOf('GET /attack HTTP/1.1', 'Connection: close'))
      await attacker.ended()
      const victim = await connectRaw(t, url)
      victim.send(headOf('GET /victim HTTP/1.1') + headOf('GET /victim HTTP/1.1'))
      t.equal((await victim.response()).body, 'own')
      t.equal((await victim.response()).body, 'own')
    }
  })
}

t.test('a body after HEAD is not taken for the answer to the next request of anybody', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, method }) =>
    socket.write(method === 'HEAD' ? evil : answerOf('own')),
  )
  const { url } = await startProxy(t, backend.url)
  const client = await connectRaw(t, url)
  for (let turn = 0; turn < 3; turn++) {
    client.send(headOf('HEAD / HTTP/1.1'))
    t.equal((await client.response(true)).headers['content-length'], '4')
    client.send(headOf('GET / HTTP/1.1'))
    t.equal((await client.response()).body, 'own')
  }
})

const random = createRandom(77)
const tick = () => new Promise((resolve) => setImmediate(resolve))

async function echo({ url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.from(`${url};`.repeat(1 + (Number(url.slice(1)) % 50) * 7))
  if (random.below(2) === 0) response.setHeader('Content-Length', body.length)
  if (random.below(15) === 0) response.setHeader('Connection', 'close')
  for (const piece of cutAtRandom(body, random, 500)) {
    response.write(piece)
    if (random.below(3) === 0) await tick()
  }
  response.end()
}

async function askMany(client: RawClient, from: number, count: number): Promise<number> {
  let right = 0
  for (let id = from; id < from + count; id++) {
    client.send(headOf(`GET /${id} HTTP/1.1`))
    const { body } = await client.response()
    if (body === `/${id};`.repeat(1 + (id % 50) * 7)) right++
  }
  return right
}

t.test('many clients at once over few connections each get their own answers', async (t) => {
  const { url } = await startProxy(t, await startServer(t, echo), { upstream: { connections: 5 } })
  const clients = await Promise.all(Array.from({ length: 40 }, () => connectRaw(t, url)))
  const right = await Promise.all(clients.map((client, index) => askMany(client, index * 1_000, 25)))
  t.equal(
    right.reduce((sum, count) => sum + count, 0),
    1_000,
  )
})
