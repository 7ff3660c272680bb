import { createServer } from 'node:http'
import { Duplex } from 'node:stream'

export interface NodeReading {
  readonly isRead: boolean
  readonly method?: string | undefined
  readonly target?: string | undefined
  readonly fields?: readonly string[]
}

/** The stricter of Node's parsers; a missing Host is another matter. */
const server = createServer({ requireHostHeader: false, insecureHTTPParser: false })
const waiting = new WeakMap<object, (reading: NodeReading) => void>()

server.on('request', ({ method, url, rawHeaders, socket }) => {
  waiting.get(socket)?.({ isRead: true, method, target: url, fields: rawHeaders })
})
server.on('checkContinue', ({ method, url, rawHeaders, socket }) => {
  waiting.get(socket)?.({ isRead: true, method, target: url, fields: rawHeaders })
})
server.on('checkExpectation', ({ method, url, rawHeaders, socket }) => {
  waiting.get(socket)?.({ isRead: true, method, target: url, fields: rawHeaders })
})
for (const event of ['connect', 'upgrade'] as const) {
  server.on(event, ({ method, url, rawHeaders }, socket) => {
    waiting.get(socket)?.({ isRead: true, method, target: url, fields: rawHeaders })
  })
}
server.on('clientError', (_error, socket) => waiting.get(socket)?.({ isRead: false }))

/** What Node's own parser, llhttp, makes of the first head in these bytes. */
export function readByNode(text: string): Promise<NodeReading> {
  return new Promise((resolve) => {
    const socket = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() })
    waiting.set(socket, (reading) => {
      resolve(reading)
      socket.destroy()
    })
    socket.on('error', () => {})
    server.emit('connection', socket)
    socket.push(Buffer.from(text, 'latin1'))
    socket.push(null)
    socket.once('close', () => resolve({ isRead: false }))
  })
}
