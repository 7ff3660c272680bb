import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import t, { type Test } from 'tap'
import { withUsageAsked } from '#gateway/forward/asked-usage.ts'
import { heldBytesMax, heldBytesOfCallerMax } from '#gateway/forward/held-bodies.ts'
import { startBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { portOf, until } from '../setup/net.ts'
import { connectRaw, type RawClient } from '../setup/raw-client.ts'
import { tooDear } from './support/cost.ts'

async function start(t: Test, target: string, upstream: Readonly<Record<string, unknown>> = {}) {
  const gateway = await startGateway(t, {
    config: {
      limits: { bodyRate: '1B' },
      upstreams: { backend: { targets: [{ url: target }], ...upstream } },
      routes: [
        {
          ...{ name: 'models', path: '/', upstream: 'backend', auth: 'any', maxBody: 'unlimited' },
          ...{ costField: 'usage.total_tokens', includeUsage: true },
        },
      ],
    },
  })
  const connectAs = async () => {
    const { secretKey } = await gateway.createAccount()
    return async (length: number, begun = '') => {
      const client = await connectRaw(t, gateway.url)
      const lines = [`SecretKey: ${secretKey}`, 'Content-Type: application/json', `Content-Length: ${length}`]
      client.send(`POST / HTTP/1.1\r\nHost: a\r\n${lines.join('\r\n')}\r\n\r\n${begun}`)
      return client
    }
  }
  return { gateway, connectAs }
}

const beginning = '{"stream":true,"a":"'
const fill = (bytes: number) => beginning + 'x'.repeat(bytes - beginning.length)

t.test(
  'bodies of one caller that do not end take a bounded amount of memory, and others are served',
  async (t) => {
    const backend = await startBackend(t)
    const { gateway, connectAs } = await start(t, backend.url)
    const connect = await connectAs()
    const fitting = Math.floor(heldBytesOfCallerMax / heldBytesMax)
    const clients: RawClient[] = []
    // One more than fit.
    for (let index = 0; index <= fitting; index++)
      clients.push(await connect(heldBytesMax, fill(heldBytesMax - 2)))
    const answered = clients.map(async (client) => ({ client, head: (await client.read()).toString() }))
    const { client: refused, head } = await Promise.race(answered)
    t.match(head, 'HTTP/1.1 503')
    const held = clients.filter((client) => client !== refused)
    await until(
      'the log says why',
      () => gateway.logLines.some((line) => line.includes('too many request bodies are held')) || undefined,
    )
    const other = await (await connectAs())(15, '{"stream":true}')
    t.equal((await other.response()).status, 200)

    // Whatever becomes of them, they are given back: sent, left, or refused.
    held[0]?.send('"}')
    t.match((await answered[clients.indexOf(held[0] ?? refused)])?.head, 'HTTP/1.1 200')
    held[1]?.close()
    const more = async () => {
      const client = await connect(heldBytesMax, fill(heldBytesMax - 2))
      return (await client.send('"}').response()).status
    }
    await until('there is room for one', async () => (await more()) === 200 || undefined)
    t.equal(await more(), 200)
    t.equal(await more(), 200)
  },
)

t.test('bodies for a backend that accepts nothing are given back once they have failed', async (t) => {
  const stuck: Server = createServer((socket) => socket.pause()).listen(0, '127.0.0.1')
  await once(stuck, 'listening')
  t.teardown(() => stuck.close())
  const { connectAs } = await start(t, `http://127.0.0.1:${portOf(stuck)}`, {
    timeouts: { response: '200ms' },
  })
  const connect = await connectAs()
  for (let time = 0; time < 2 * Math.ceil(heldBytesOfCallerMax / heldBytesMax); time++) {
    const client = await connect(heldBytesMax, `${fill(heldBytesMax - 2)}"}`)
    t.equal((await client.response()).status, 504)
    client.close()
  }
})

t.test('one byte at a time costs no more memory than what has arrived', async (t) => {
  const backend = await startBackend(t)
  const { connectAs } = await start(t, backend.url)
  const connect = await connectAs()
  // Were each kept by itself, these would take more than the caller may.
  const client = await connect(1_000_000)
  const bytes = Buffer.from(`${fill(999_998)}"}`)
  client.socket.setNoDelay(true)
  for (let at = 0; at < 2_000; at++) client.socket.write(bytes.subarray(at, at + 1))
  client.send(bytes.subarray(2_000))
  t.equal((await client.response()).status, 200)
  t.equal(backend.last().body.length, 1_000_040)
})

t.test('no body takes more than its length to read', async (t) => {
  const units = ['1,', '-1.5e-3,', '[],', '{},', '"",', '"\\u0041",', '{"stream":true},', ' ', '\\u0041', 'x']
  const inArray = (unit: string, bytes: number) => {
    const isText = unit.startsWith('\\') || unit === 'x'
    const filler = unit.repeat(bytes / unit.length)
    return Buffer.from(`{"stream":true,"a":${isText ? `"${filler}"` : `[${filler}0]`}}`)
  }
  const asMembers = (unit: string, bytes: number) =>
    Buffer.from(`{"stream":true,${unit.repeat(bytes / unit.length)}"b":1}`)
  const bodies: (readonly [name: string, body: (bytes: number) => Buffer])[] = [
    ...units.map((unit) => [unit, (bytes: number) => inArray(unit, bytes)] as const),
    ...['"a":1,', '"\\u0061":1,', '"strean":1,', '"stream":true,', '"\\u0073tream":true,'].map(
      (unit) => [unit, (bytes: number) => asMembers(unit, bytes)] as const,
    ),
    ['[', (bytes) => Buffer.from('{"stream":true,"a":'.padEnd(bytes, '['))],
    ['{"a":', (bytes) => Buffer.from('{"a":'.repeat(bytes / 5))],
    ['without an end', (bytes) => Buffer.from(fill(bytes))],
  ]
  const dear: string[] = []
  for (const [name, body] of bodies) {
    const why = await tooDear(async (bytes) => withUsageAsked(body(bytes)), { length: 1_000_000, maxMs: 25 })
    if (why !== undefined) dear.push(`${name}: ${why}`)
  }
  t.strictSame(dear, [])
})
