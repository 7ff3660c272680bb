import { readFileSync } from 'node:fs'
import { createSecureServer, createServer, type ServerHttp2Stream } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { reportUrl } from '../report-url.ts'

/**
 * The least that a proxy on node:http2 can do: each stream becomes a fixed request on a connection of HTTP/1.1 that is
 * kept, and gets a response whose body is copied as it came. Nothing of the request is looked at.
 */
const [upstreamUrl = '', certFile, keyFile] = process.argv.slice(2)
const { port, hostname, host } = new URL(upstreamUrl)
const request = `GET /any HTTP/1.1\r\nHost: ${host}\r\n\r\n`
const fields = [':status', '200', 'content-type', 'application/json', 'content-length', '15']
const headEnd = '\r\n\r\n'
const bodyBytes = 15

interface Upstream {
  readonly socket: Socket
  stream: ServerHttp2Stream | undefined
}

const idle: Upstream[] = []

function open(): Upstream {
  const socket = connect({ port: Number(port), host: hostname, noDelay: true })
  const upstream: Upstream = { socket, stream: undefined }
  // Responses of the bench's upstream come in one piece.
  socket.on('data', (data: Buffer) => {
    const { stream } = upstream
    const body = data.subarray(data.indexOf(headEnd) + headEnd.length)
    if (body.length !== bodyBytes) throw new Error(`not the expected response: ${data}`)
    idle.push(upstream)
    if (!stream || stream.destroyed) return
    stream.respond(fields)
    stream.end(body)
  })
  return upstream
}

const server =
  certFile === undefined || keyFile === undefined
    ? createServer()
    : createSecureServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) })
server.on('stream', (stream: ServerHttp2Stream) => {
  const upstream = idle.pop() ?? open()
  upstream.stream = stream
  upstream.socket.write(request, 'latin1')
  stream.on('error', () => {})
})
server.on('sessionError', () => {})
await reportUrl(server)
