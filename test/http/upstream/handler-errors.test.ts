import { once } from 'node:events'
import { createServer } from 'node:http2'
import t, { type Test } from 'tap'
import { startServer } from '../../setup/backend.ts'
import { portOf } from '../../setup/net.ts'
import { exchange, openTestUpstream } from '../outgoing/exchange.ts'

/** Of either version of HTTP. */
interface Response {
  write(text: string): unknown
  end(text: string): unknown
}

async function startHttp2Server(t: Test, answer: (_: unknown, response: Response) => void): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${portOf(server)}`
}

for (const protocol of ['http1', 'http2'] as const)
  t.test(`${protocol}: what a handler of a response throws is no failure of the target`, async (t) => {
    const sockets = new Set<unknown>()
    let finish = () => {}
    const answer = (_: unknown, response: Response) => {
      response.write('o')
      finish = () => response.end('k')
    }
    const url = await (protocol === 'http2'
      ? startHttp2Server(t, answer)
      : startServer(t, (request, response) => {
          sockets.add(request.socket)
          answer(request, response)
        }))
    const changes: unknown[] = []
    const passive = { maxFailures: 1, windowMs: 10_000, ejectForMs: 60_000 }
    const upstream = openTestUpstream(
      t,
      [url, url],
      { protocol, health: { active: undefined, passive }, retryAttempts: 1 },
      { onHealthChange: (change) => changes.push(change) },
    )
    const fault = new RangeError('of ours')
    for (const event of ['onHead', 'onData', 'onRead', 'onEnd', undefined] as const) {
      const asked = exchange(upstream)
      asked.onEvent = (name) => {
        if (name === event) throw fault
        if (name === 'onRead') finish()
      }
      if (event === undefined) {
        t.equal((await asked.answer).body, 'ok', 'the target still gets requests')
        continue
      }
      const { reason, cause } = await asked.failure
      t.strictSame([reason, cause], ['internal', fault], event)
      t.equal(asked.events.filter((name) => name === 'sent').length, 1, 'it is not sent again')
      t.equal(asked.events.at(-1), 'internal', 'nothing follows')
    }
    t.strictSame(changes, [])
    if (protocol === 'http1') t.equal(sockets.size, 5, 'no connection is used again')
  })
