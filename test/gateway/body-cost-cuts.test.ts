import { once } from 'node:events'
import { get } from 'node:http'
import { connect, createServer } from 'node:http2'
import t, { type Test } from 'tap'
import { dayOf } from '#platform/time.ts'
import { startServer } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { portOf, until } from '../setup/net.ts'

const forged = '{"choices":[{"delta":{"content":"é\\"usage\\":{\\"total_tokens\\":1}}"}}],"usage":null}'
const bodies = {
  events: {
    type: 'text/event-stream',
    bytes: Buffer.from(
      `data: ${forged}\r\n\r\ndata: {"usage":{"total_tokens":7}}\n\nevent: end\ndata: [DONE]\n\n`,
    ),
  },
  json: {
    type: 'application/json',
    bytes: Buffer.from('{"text":"\\\\\\"usage\\": 1","usage":{"a":[{}],"total_tokens" : 7}}'),
  },
} as const

/** Of either version of HTTP. */
interface Response {
  setHeader(name: string, value: string | number): unknown
  write(bytes: Buffer): unknown
  end(bytes: Buffer): unknown
}

async function startHttp2Server(t: Test, answer: (_: unknown, response: Response) => void): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${portOf(server)}`
}

/** @param protocol of the backend */
async function start(t: Test, protocol: 'http1' | 'http2') {
  let arrival = Promise.withResolvers<Response>()
  const answer = (_: unknown, response: Response) => {
    arrival.resolve(response)
  }
  const url = await (protocol === 'http1' ? startServer(t, answer) : startHttp2Server(t, answer))
  const route = { path: '/', upstream: 'backend', auth: 'any', costField: 'usage.total_tokens' }
  const gateway = await startGateway(t, {
    config: {
      upstreams: { backend: { targets: [{ url }], protocol } },
      routes: [{ name: 'models', ...route }],
    },
  })
  const { account, secretKey } = await gateway.createAccount()
  /** Begins the answer once the request has arrived, with the first bytes. */
  const begin = async (kind: keyof typeof bodies, cut: number) => {
    const response = await arrival.promise
    arrival = Promise.withResolvers()
    const { type, bytes } = bodies[kind]
    // Both framings.
    if (kind === 'json') response.setHeader('Content-Length', bytes.length)
    response.setHeader('Content-Type', type)
    response.write(bytes.subarray(0, cut))
    return () => response.end(bytes.subarray(cut))
  }
  const today = dayOf(Date.now())
  const units = () =>
    gateway.operate(async ({ usage }) => {
      const counts = await usage.read(account.id, { from: today - 1, to: today + 1 })
      return counts.reduce((total, each) => total + each.units, 0)
    })
  return { gateway, secretKey, begin, units }
}

for (const protocol of ['http1', 'http2'] as const)
  t.test(
    `an answer of ${protocol} that is cut at any byte passes without delay, and its units are counted`,
    async (t) => {
      const { gateway, secretKey, begin, units } = await start(t, protocol)
      const session = connect(gateway.url)
      t.teardown(() => session.destroy())
      const overHttp1 = async () => {
        const request = get(gateway.url, { headers: { SecretKey: secretKey } })
        const answered = once(request, 'response')
        return async () => (await answered)[0] as AsyncIterable<Buffer>
      }
      const overHttp2 = async () => {
        const stream = session.request({ ':path': '/', secretkey: secretKey })
        return async () => stream as AsyncIterable<Buffer>
      }
      let expected = 0
      for (const open of [overHttp1, overHttp2])
        for (const kind of ['events', 'json'] as const) {
          const { bytes } = bodies[kind]
          for (let cut = 1; cut < bytes.length; cut++) {
            const answer = await open()
            const finish = await begin(kind, cut)
            const parts: Buffer[] = []
            for await (const part of await answer()) {
              parts.push(part)
              // The rest is sent only once the first part has arrived.
              if (Buffer.concat(parts).length === cut) finish()
            }
            if (!Buffer.concat(parts).equals(bytes)) t.fail(`${kind}, cut at ${cut}: other bytes`)
            expected += 7
          }
        }
      await until('all units are counted', async () => (await units()) === expected || undefined)
      t.equal(await units(), expected)
    },
  )
