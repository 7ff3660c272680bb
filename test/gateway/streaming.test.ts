import type { IncomingMessage, ServerResponse } from 'node:http'
import t from 'tap'
import { startCannedBackend, startServer } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { ask } from './support/ask.ts'

t.test('an event stream reaches the client event by event', async (t) => {
  let stream: ServerResponse | undefined
  const url = await startServer(t, (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders()
    stream = response
  })
  const gateway = await startGateway(t, { backend: url })
  const client = await connectRaw(t, gateway.url)
  client.send('GET /public HTTP/1.1\r\nHost: x\r\n\r\n')
  t.match(await client.readUntil('\r\n\r\n'), 'text/event-stream', 'the head does not wait for an event')
  for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
    stream?.write(event)
    t.match(await client.readUntil('\n\n\r\n'), event)
  }
  client.close()
  await until('the backend stream is closed', () => stream?.closed)
})

t.test('a body streams to the backend while the client still sends it', async (t) => {
  let got = ''
  const url = await startServer(t, (request, response) => {
    request.on('data', (chunk) => {
      got += chunk
    })
    request.on('end', () => response.end('done'))
  })
  const gateway = await startGateway(t, { backend: url })
  const client = await connectRaw(t, gateway.url)
  client.send('POST /public HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc')
  await until('the first half is there', () => got === 'abc')
  client.send('def')
  t.equal((await client.response()).body, 'done')
  t.equal(got, 'abcdef')
})

t.test('an answer before the end of the upload is forwarded at once', async (t) => {
  const url = await startServer(t, (_request, response) => {
    response.writeHead(413, { Connection: 'close', 'Content-Length': 2 }).end('no')
  })
  const gateway = await startGateway(t, { backend: url })
  const client = await connectRaw(t, gateway.url)
  client.send('POST /public HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nsome')
  t.match(await client.response(), { status: 413, body: 'no' })
})

t.test('a client that disconnects cancels its request to the backend', async (t) => {
  for (const sent of [
    'GET /public HTTP/1.1\r\nHost: x\r\n\r\n',
    'POST /public HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc',
  ]) {
    let current: IncomingMessage | undefined
    const url = await startServer(t, (request) => {
      request.resume().on('error', () => {})
      current = request
    })
    const gateway = await startGateway(t, { backend: url })
    const client = await connectRaw(t, gateway.url)
    client.send(sent)
    await until('the backend has it', () => current !== undefined)
    client.close()
    await until('the backend stream is closed', () => current?.destroyed)
  }
})

t.test('100 Continue comes from the backend, and only to an authorised request', async (t) => {
  const { backend: continued, gateway } = await startBoth(t)
  const { secretKey } = await gateway.createAccount()
  const head = (path: string, ...lines: string[]) =>
    `${[`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Length: 4', 'Expect: 100-continue', ...lines].join('\r\n')}\r\n\r\n`
  const allowed = await connectRaw(t, gateway.url)
  allowed.send(head('/any', `SecretKey: ${secretKey}`))
  t.equal((await allowed.response()).status, 100)
  allowed.send('body')
  t.equal((await allowed.response()).status, 200)
  t.equal(continued.last().body, 'body')
  for (const [path, status] of [
    ['/any', 401],
    ['/nowhere', 404],
  ] as const) {
    const refused = await connectRaw(t, gateway.url)
    refused.send(head(path))
    t.equal((await refused.response()).status, status, 'no 100 before')
  }
})

t.test("a backend's refusal in place of 100 Continue reaches the client", async (t) => {
  const refusing = await startCannedBackend(
    t,
    'HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno',
  )
  const gateway = await startGateway(t, { backend: refusing })
  const client = await connectRaw(t, gateway.url)
  client.send('PUT /public HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n')
  t.match(await client.response(), { status: 417, body: 'no' })
})

t.test('a backend is read no faster than its client reads', async (t) => {
  const size = 64 * 1_048_576
  const block = Buffer.alloc(1_048_576, 120)
  let sent = 0
  const url = await startServer(t, (_request, response) => {
    response.writeHead(200, { 'Content-Length': size })
    write()
    function write(): void {
      while (sent < size) {
        sent += block.length
        if (response.write(block)) continue
        response.once('drain', write)
        return
      }
      response.end()
    }
  })
  const gateway = await startGateway(t, { backend: url })
  const client = await connectRaw(t, gateway.url)
  client.socket.pause()
  client.send('GET /public HTTP/1.1\r\nHost: x\r\n\r\n')
  const counts: number[] = []
  await until('nothing more is taken from the backend', () => {
    counts.push(sent)
    return sent > 0 && counts.length > 30 && counts.at(-30) === sent
  })
  t.ok(sent < size / 2, `${sent} of ${size} bytes were taken while nobody reads`)
  let received = 0
  client.socket.removeAllListeners('data').on('data', (chunk) => {
    received += chunk.length
  })
  client.socket.resume()
  await until('all of it has come', () => received > size)
})

t.test('a request that a backend closes on without an answer is not sent again', async (t) => {
  const { backend, gateway } = await startBoth(t, { answer: (request) => request.socket.destroy() })
  for (const line of ['POST /public', 'GET /public']) {
    backend.seen.length = 0
    t.equal((await ask(t, gateway.url, line)).status, 502)
    t.equal(backend.seen.length, 1)
  }
})
