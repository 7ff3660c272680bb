import t, { type Test } from 'tap'
import { answerOf, startHeadBackend } from '../../http/outgoing/backends.ts'
import { invalidHeads } from '../../http/outgoing/invalid-responses.ts'
import { freePort, until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { connectProxy, headOf, startProxy } from './proxies.ts'

/** The answer to one GET. */
async function ask(t: Test, url: string, ...lines: readonly string[]) {
  const client = await connectRaw(t, url)
  client.send(headOf('GET / HTTP/1.1', ...lines))
  const response = await client.response()
  return { ...response, client }
}

t.test('a target that refuses connections is 502, without its address', async (t) => {
  const port = await freePort()
  const { url } = await startProxy(t, `http://127.0.0.1:${port}`)
  const { status, head, body, json } = await ask(t, url)
  t.equal(status, 502)
  t.equal(json().code, 'upstream-unreachable')
  t.notMatch(head + body, new RegExp(`${port}|127\\.0\\.0\\.1|ECONN`))
})

t.test('a target name that does not resolve is 502, without the name', async (t) => {
  const { url } = await startProxy(t, 'http://nowhere.invalid:81')
  const { status, head, body, json } = await ask(t, url)
  t.equal(status, 502)
  t.equal(json().code, 'upstream-unreachable')
  t.notMatch(head + body, /nowhere|ENOTFOUND|EAI/)
})

t.test('a target that is too slow is 504', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const { url } = await startProxy(t, backend.url, { route: { timeouts: { response: '100ms' } } })
  const { status, json } = await ask(t, url)
  t.strictSame([status, json().code], [504, 'upstream-timeout'])
})

t.test('no free connection in time is 503, with Retry-After', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const { url } = await startProxy(t, backend.url, {
    upstream: { connections: 1, timeouts: { connect: '50ms' } },
  })
  const first = await connectRaw(t, url)
  first.send(headOf('GET / HTTP/1.1'))
  await until('it is asked', () => backend.heads[0])
  const { status, headers, json } = await ask(t, url)
  t.strictSame([status, json().code], [503, 'upstream-unavailable'])
  t.match(headers['retry-after'], /^\d+$/)
  backend.heads[0]?.socket.write(answerOf('ok'))
  t.equal((await first.response()).body, 'ok')
})

t.test("a malformed answer is 502, and the client's connection goes on", async (t) => {
  const answers = Object.values(invalidHeads).flatMap((examples) => examples.slice(0, 2))
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    socket.end(
      Buffer.from(path === '/fine' ? answerOf('fine') : (answers[Number(path.slice(1))] ?? ''), 'latin1'),
    )
  })
  const client = await connectProxy(t, backend.url)
  for (const [index, answer] of answers.entries()) {
    client.send(headOf(`GET /${index} HTTP/1.1`))
    const { status, json } = await client.response()
    t.strictSame(
      [status, json().code],
      [502, 'upstream-invalid-response'],
      JSON.stringify(answer.slice(0, 50)),
    )
    client.send(headOf('GET /fine HTTP/1.1'))
    t.equal((await client.response()).body, 'fine')
  }
})

t.test('a client that stalls within its upload is 408', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const client = await connectProxy(t, backend.url, { upstream: { timeouts: { idle: '100ms' } } })
  client.send(`${headOf('POST / HTTP/1.1', 'Content-Length: 100')}part`)
  const { status, json } = await client.response()
  t.strictSame([status, json().code], [408, 'request-timeout'])
  await until('the target is rid of it', () => backend.sockets[0]?.closed || undefined)
})

t.test('a target that closes before its answer is 502, and is asked once if it may have acted', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => socket.destroy())
  const client = await connectProxy(t, backend.url)
  client.send(headOf('POST / HTTP/1.1', 'Content-Length: 0'))
  const { status, json } = await client.response()
  t.strictSame([status, json().code], [502, 'upstream-invalid-response'])
  t.equal(backend.heads.length, 1)
})
