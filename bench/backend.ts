import { createServer } from 'node:net'
import { serveFigures } from './figures.ts'

/** A backend that costs as little as can be: the same small answer to every head, without parsing it. */
const answer = Buffer.from(
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{"hello":"you"}',
)

const server = createServer({ noDelay: true }, (socket) => {
  let received = ''
  socket.on('error', () => socket.destroy())
  socket.on('data', (data) => {
    received += data.toString('latin1')
    for (let end = received.indexOf('\r\n\r\n'); end !== -1; end = received.indexOf('\r\n\r\n')) {
      received = received.slice(end + 4)
      socket.write(answer)
    }
  })
})
server.listen(0, '127.0.0.1', () => serveFigures(server))
