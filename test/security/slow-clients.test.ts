import type { IncomingMessage } from 'node:http'
import t, { type Test } from 'tap'
import { accessTokenPath, ask } from '../gateway/support/ask.ts'
import { readMetrics } from '../gateway/support/metrics.ts'
import { startServer } from '../setup/backend.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw, type RawClient } from '../setup/raw-client.ts'

const count = 200

/** Connections that each send the start of a request, and nothing more. */
function stall(t: Test, { url }: TestGateway, text: string): Promise<RawClient[]> {
  return Promise.all(Array.from({ length: count }, async () => (await connectRaw(t, url)).send(text)))
}

t.test('stalled clients hold up no other, and are timed out', async (t) => {
  const url = await startServer(t, (_request, response) => response.end('ok'))
  const gateway = await startGateway(t, {
    backend: url,
    config: { listen: { port: 0, requestTimeout: '1s' } },
  })
  const stalled = [
    ...(await stall(t, gateway, '')),
    ...(await stall(t, gateway, 'GET /public HTTP/1.1\r\nHost: x\r\nX-')),
    ...(await stall(t, gateway, `POST ${accessTokenPath} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{`)),
  ]
  for (let turn = 0; turn < 20; turn++) t.equal((await ask(t, gateway.url, 'GET /public')).status, 200)
  const isGone = await until('all are gone', () =>
    stalled.every(({ socket }) => socket.readableEnded || socket.closed),
  )
  t.ok(isGone)
})

t.test('a refused body is not waited for long', async (t) => {
  const gateway = await startGateway(t)
  for (const head of [
    'POST /any HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n',
    'POST /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
    `PUT ${accessTokenPath} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n`,
  ]) {
    const client = await connectRaw(t, gateway.url)
    const start = performance.now()
    client.send(head)
    t.match((await client.response()).status, /40[145]/, 'the answer does not wait for the body')
    t.ok(performance.now() - start < 1_000)
    await until('the connection ends', () => client.isEnded, 5_000)
  }
})

t.test('a client that sends all of a refused body before it reads gets the refusal', async (t) => {
  const gateway = await startGateway(t)
  for (const megabytes of [1, 17, 64]) {
    const client = await connectRaw(t, gateway.url)
    client.send(`POST /any HTTP/1.1\r\nHost: x\r\nContent-Length: ${megabytes * 1_048_576}\r\n\r\n`)
    client.socket.pause()
    await sendBlocks(client, megabytes)
    t.notOk(client.socket.errored, `${megabytes} MiB can be sent`)
    client.socket.resume()
    t.equal((await client.response()).status, 401)
    // After what is little the connection may be used again.
    if (megabytes > 1) await client.ended()
  }
})

t.test('a flood behind a refused request is cut off after its answer', async (t) => {
  const gateway = await startGateway(t)
  const client = await connectRaw(t, gateway.url)
  client.send('POST /any HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n')
  t.equal((await client.response()).status, 401)
  const sent = await sendBlocks(client, 4_096)
  await until('it is cut', () => client.socket.closed)
  t.ok(sent < 1_200, `${sent} MiB were taken from a client that had its answer`)
})

/** Sends so many MiB, or as many as are taken. @returns how many */
async function sendBlocks({ socket }: RawClient, count: number): Promise<number> {
  const block = Buffer.alloc(1_048_576)
  for (let sent = 0; sent < count; sent++) {
    if (socket.destroyed) return sent
    await new Promise((resolve) => socket.write(block, resolve))
  }
  return count
}

t.test('a client that half-closes or closes leaks nothing', async (t) => {
  const requests: IncomingMessage[] = []
  const url = await startServer(t, (request) => {
    request.on('error', () => {}).resume()
    requests.push(request)
  })
  const gateway = await startGateway(t, { backend: url })
  const heads = [
    'GET /public HTTP/1.1\r\nHost: x\r\n\r\n',
    'POST /public HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc',
    'POST /public HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
  ]
  for (const head of heads) {
    // One that has sent its request whole and closed its side may still wait for the answer.
    const mayWait = head.startsWith('GET')
    for (const leave of ['end', 'destroy', 'resetAndDestroy'] as const) {
      if (leave === 'end' && mayWait) continue
      requests.length = 0
      const client = await connectRaw(t, gateway.url)
      client.send(head)
      await until('the backend has it', () => requests.length > 0)
      client.socket[leave]()
      await until(`the backend sees the end after ${leave}`, () => requests[0]?.socket.closed)
    }
  }
  await until(
    'nothing is under way',
    async () => (await readMetrics(gateway.opsUrl)).value('gatehouse_http_requests_in_flight') === 0,
  )
})

t.test('a client that pipelines without reading answers is no longer read', async (t) => {
  let answered = 0
  const body = 'x'.repeat(100_000)
  const url = await startServer(t, (_request, response) => {
    answered++
    response.end(body)
  })
  const gateway = await startGateway(t, { backend: url })
  const client = await connectRaw(t, gateway.url)
  client.socket.pause()
  const total = 5_000
  client.send('GET /public HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(total))
  const counts: number[] = []
  await until('no more is asked of the backend', () => {
    counts.push(answered)
    return answered > 0 && counts.length > 60 && counts.at(-60) === answered
  })
  t.ok(answered < total / 2, `${answered} of ${total} answers were made for nobody`)
  t.equal((await ask(t, gateway.url, 'GET /nowhere')).status, 404, 'others are served')
  client.close()
})
