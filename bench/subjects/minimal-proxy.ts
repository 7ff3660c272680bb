import { connect, type Socket } from 'node:net'
import { DirectSocketReader, PooledSocketReader } from '#http/socket-reader.ts'
import { serveSockets } from '../socket-server.ts'

/**
 * The least that a proxy for HTTP/1.1 does in Node, with the gateway's own way of reading: a request without a body is
 * forwarded on a kept connection, with its credential replaced by an identity, and its answer on to the client. Nothing
 * is checked, and each message has to arrive in one piece.
 */
const [upstreamUrl = '', ...tlsFiles] = process.argv.slice(2)
const { port, hostname } = new URL(upstreamUrl)

interface Kept {
  readonly socket: Socket
  client: Socket | undefined
}

const idle: Kept[] = []

function open(): Kept {
  const reader = new PooledSocketReader()
  const { onread } = reader
  const socket = connect({ port: Number(port), host: hostname, noDelay: true, onread })
  const kept: Kept = { socket, client: undefined }
  reader.attach(socket, (answer) => {
    const head = answer.toString('latin1')
    const { client } = kept
    kept.client = undefined
    idle.push(kept)
    client?.write(head.replace('Connection: keep-alive\r\n', ''), 'latin1')
    return true
  })
  socket.on('error', () => socket.destroy())
  return kept
}

function serve(client: Socket): void {
  new DirectSocketReader(client, (request) => {
    const head = request.toString('latin1')
    const at = head.indexOf('\r\nAuthorization: ') + 2
    const kept = idle.pop() ?? open()
    kept.client = client
    const rest = head.slice(head.indexOf('\r\n', at))
    kept.socket.write(`${head.slice(0, at)}X-User-Id: 1234\r\nX-User-Role: User${rest}`, 'latin1')
    return true
  })
  client.on('error', () => client.destroy())
}

await serveSockets(tlsFiles, serve)
