import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { untilClosed } from '../gateway/support/until-closed.ts'
import { upgradeLines } from '../gateway/support/web-socket.ts'
import { startRawBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'

const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

/** An open tunnel to a backend that counts bytes and understands nothing. */
async function open(t: Test, shutdown: object = {}) {
  let socket: Socket | undefined
  let received: Buffer = Buffer.alloc(0)
  let bytes = 0
  const url = await startRawBackend(t, (opened) => {
    opened.once('data', () => {
      socket = opened
      opened.write(switching)
      opened.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes < 100_000) received = Buffer.concat([received, chunk])
      })
    })
  })
  const routes = [{ name: 'ws', path: '/ws', upstream: 'backend', auth: 'none', websocket: true }]
  const gateway = await startGateway(t, { backend: url, config: { routes, shutdown } })
  const client = await connectRaw(t, gateway.url)
  client.send(`GET /ws HTTP/1.1\r\nHost: x\r\n${upgradeLines.join('\r\n')}\r\n\r\n`)
  t.match(await client.readUntil('\r\n\r\n'), /^HTTP\/1\.1 101 /)
  const backend: Socket = await until('the backend has it', () => socket)
  return { gateway, client, backend, bytes: () => bytes, received: () => received }
}

t.test('500,000 one-byte fragments pass at the cost of their bytes', async (t) => {
  const { client, bytes } = await open(t)
  const count = 500_000
  const fragment = Buffer.from([0x00, 0x81, 1, 2, 3, 4, 0x61 ^ 1])
  const first = Buffer.from([0x01, 0x81, 1, 2, 3, 4, 0x61 ^ 1])
  const stream = Buffer.concat([first, ...Array.from({ length: count - 1 }, () => fragment)])
  const before = process.memoryUsage().heapUsed
  for (let offset = 0; offset < stream.length; offset += 70_001)
    client.send(stream.subarray(offset, offset + 70_001))
  await until('all have passed', () => bytes() === stream.length)
  t.ok(process.memoryUsage().heapUsed - before < 200 * 1_048_576, 'nothing is kept of them')
})

t.test('invalid frames pass unchanged to the backend', async (t) => {
  const { client, received } = await open(t)
  const rubbish = Buffer.concat([
    Buffer.from([0xff, 0x80, 0, 0, 0, 0]),
    Buffer.from([0x89, 0xfe, 0x01, 0x00, 0, 0, 0, 0]),
    Buffer.alloc(256, 0x5a),
    Buffer.from([0x81, 0x05]),
    Buffer.from('hello'),
    Buffer.from([0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4, 5]),
  ])
  for (const byte of rubbish) client.send(Buffer.from([byte]))
  await until('it has passed', () => received().length === rubbish.length)
  t.ok(received().equals(rubbish))
})

t.test('HTTP inside a WebSocket is not a request', async (t) => {
  const { client, received, gateway } = await open(t)
  const request = 'GET /ws/second HTTP/1.1\r\nHost: x\r\nX-User-Id: root\r\n\r\n'
  client.send(request)
  await until('it has passed', () => received().length === request.length)
  t.equal(received().toString(), request, 'it is not touched')
  client.close()
  const requests = () => gateway.logLines.filter((line) => line.includes('"request"'))
  await until('the upgrade is over', () => requests().length > 0)
  t.equal(requests().length, 1)
})

t.test('a shutdown within a frame waits for its end, for a bounded time', async (t) => {
  const { client, backend, received, gateway } = await open(t, { drain: '10s' })
  const start = performance.now()
  backend.write(Buffer.from([0x82, 0x0a, 1, 2, 3]))
  t.equal((await client.readBytes(5)).length, 5)
  client.send(Buffer.from([0x82, 0x83, 0, 0, 0, 0, 1]))
  await until('half a frame has passed', () => received().length === 7)
  const down = gateway.shutDown()
  await untilClosed(t, gateway.url)
  backend.write(Buffer.from([4, 5, 6, 7, 8, 9, 10, 0x81, 0x01, 0x41]))
  const rest = await client.readBytes(7 + 4)
  t.strictSame([...rest.subarray(0, 7)], [4, 5, 6, 7, 8, 9, 10], 'the frame is whole')
  t.strictSame([...rest.subarray(7, 11)].slice(0, 1), [0x88], 'and then it is closed')
  t.equal(rest.readUInt16BE(9), 1001)
  await down
  t.ok(performance.now() - start < 5_000, 'though the other frame never ends')
})
