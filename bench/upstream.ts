import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { serveSockets } from './socket-server.ts'

/**
 * The upstream of all subjects. It is as cheap as possible: only the path and Content-Length of a head are parsed.
 * `/down/N` responds with N bytes, `/events` with an event to every client ten times a second, an upgrade is accepted
 * and then left idle, anything else gets the same small response once its body is read.
 */

const ok = 'HTTP/1.1 200 OK\r\n'
const small = Buffer.from(`${ok}Content-Type: application/json\r\nContent-Length: 15\r\n\r\n{"hello":"you"}`)
const eventIntervalMs = 100
/** The rest of an event of a language model. */
const delta =
  '"model":"small-1","choices":[{"index":0,"delta":{"content":" gate"},"logprobs":null,"finish_reason":null}],"usage":null'
const piece = Buffer.alloc(65_536, 'x')
/** RFC 6455 1.3. */
const webSocketGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

const listeners = new Set<Socket>()
setInterval(tellListeners, eventIntervalMs)

function tellListeners(): void {
  // The clock is the same for all processes of the machine, and runs evenly.
  const event = `data: {"id":"chatcmpl-7Qy","object":"chat.completion.chunk","sent":"${process.hrtime.bigint()}",${delta}}\n\n`
  for (const socket of listeners) socket.write(`${event.length.toString(16)}\r\n${event}\r\n`)
}

function serve(socket: Socket): void {
  let head = ''
  let bodyLeft = 0
  let current = ''
  socket.on('error', () => socket.destroy())
  socket.on('close', () => listeners.delete(socket))
  socket.on('data', function take(data: Buffer): void {
    if (bodyLeft > data.length) {
      bodyLeft -= data.length
      return
    }
    if (bodyLeft > 0) answer(socket, current)
    head += data.toString('latin1', bodyLeft)
    bodyLeft = 0
    for (let end = head.indexOf('\r\n\r\n'); end !== -1; end = head.indexOf('\r\n\r\n')) {
      current = head.slice(0, end)
      head = head.slice(end + 4)
      bodyLeft = current.startsWith('GET ') ? 0 : lengthOf(current)
      if (bodyLeft > head.length) {
        bodyLeft -= head.length
        head = ''
        return
      }
      head = head.slice(bodyLeft)
      bodyLeft = 0
      answer(socket, current)
    }
  })
}

/** @throws Error for a body with another framing: the cost of reading it would be measured too */
function lengthOf(head: string): number {
  const [, length] = /\r\nContent-Length: *(\d+)/i.exec(head) ?? []
  if (length === undefined) throw new Error(`a body without a length: ${head}`)
  return Number(length)
}

function answer(socket: Socket, head: string): void {
  const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/'))
  if (path.includes('/down/')) sendBytes(socket, Number(path.slice(path.lastIndexOf('/') + 1)))
  else if (path.endsWith('/events')) beginEvents(socket)
  else if (path.endsWith('/ws')) acceptWebSocket(socket, head)
  else socket.write(small)
}

function sendBytes(socket: Socket, count: number): void {
  let left = count
  socket.write(`${ok}Content-Length: ${count}\r\n\r\n`)
  function send(): void {
    while (left > 0) {
      const next = left < piece.length ? piece.subarray(0, left) : piece
      left -= next.length
      if (!socket.write(next)) return
    }
    socket.off('drain', send)
  }
  socket.on('drain', send)
  send()
}

function beginEvents(socket: Socket): void {
  const fields = 'Content-Type: text/event-stream\r\nX-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n'
  socket.write(`${ok}${fields}\r\n`)
  listeners.add(socket)
}

function acceptWebSocket(socket: Socket, head: string): void {
  const [, key = ''] = /\r\nSec-WebSocket-Key: *([^\r]+)/i.exec(head) ?? []
  const accept = createHash('sha1')
    .update(key + webSocketGuid)
    .digest('base64')
  const fields = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n`
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n`)
}

await serveSockets([], serve)
