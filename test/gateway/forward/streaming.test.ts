import type { IncomingMessage, ServerResponse } from 'node:http'
import t from 'tap'
import { startRawBackend, startServer } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { connectProxy, headOf } from './proxies.ts'

t.test('the head of an event stream and each event arrive at once', async (t) => {
  let stream: ServerResponse | undefined
  const url = await startServer(t, (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.flushHeaders()
    stream = response
  })
  const client = await connectProxy(t, url)
  client.send(headOf('GET /events HTTP/1.1', 'Accept: text/event-stream'))
  t.match(await client.readUntil('\r\n\r\n'), 'Content-Type: text/event-stream')
  for (const event of ['data: one\n\n', 'data: two\n\n', ': keep-alive\n\n']) {
    stream?.write(event)
    t.equal(await client.readUntil('\n\n\r\n'), `${event.length.toString(16)}\r\n${event}\r\n`)
  }
  stream?.end()
  t.equal(await client.readUntil('0\r\n\r\n'), '0\r\n\r\n')
})

t.test('each part of an upload reaches the target before the next is sent', async (t) => {
  let request: IncomingMessage | undefined
  let received = ''
  const url = await startServer(t, (incoming, response) => {
    request = incoming
    incoming.on('data', (chunk) => {
      received += String(chunk)
    })
    incoming.on('end', () => response.end(received))
  })
  const client = await connectProxy(t, url)
  client.send(headOf('POST / HTTP/1.1', 'Content-Length: 9'))
  await until('the head has come', () => request)
  for (const [index, piece] of ['one', 'two', 'six'].entries()) {
    client.send(piece)
    await until('the piece has come', () => received.length === (index + 1) * 3 || undefined)
  }
  t.equal((await client.response()).body, 'onetwosix')
})

t.test('both directions flow at the same time', async (t) => {
  const url = await startServer(t, (request, response) => {
    response.writeHead(200)
    response.flushHeaders()
    request.on('data', (chunk) => response.write(`got ${chunk}`))
    request.on('end', () => response.end())
  })
  for (const [framing, frame] of [
    ['Content-Length: 15', (text: string) => text],
    ['Transfer-Encoding: chunked', (text: string) => `${text.length}\r\n${text}\r\n`],
  ] as const) {
    const client = await connectProxy(t, url)
    client.send(headOf('POST / HTTP/1.1', framing))
    t.match(await client.readUntil('\r\n\r\n'), 'HTTP/1.1 200 OK')
    for (const piece of ['first', 'later', 'after']) {
      client.send(frame(piece))
      t.equal(await client.readUntil(`${piece}\r\n`), `9\r\ngot ${piece}\r\n`)
    }
    if (framing.startsWith('T')) client.send('0\r\n\r\n')
    t.equal(await client.readUntil('0\r\n\r\n'), '0\r\n\r\n')
  }
})

t.test('a large answer in tiny pieces comes whole and in order', async (t) => {
  const body = Array.from({ length: 20_000 }, (_, index) => `${index},`).join('')
  const url = await startRawBackend(t, (socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      const pieces = body.match(/.{1,7}/g) ?? []
      socket.write(`${pieces.map((piece) => `${piece.length}\r\n${piece}\r\n`).join('')}0\r\n\r\n`)
    })
  })
  const client = await connectProxy(t, url)
  client.send(headOf('GET / HTTP/1.1'))
  t.equal((await client.response()).body, body)
})
