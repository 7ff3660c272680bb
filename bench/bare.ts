import { createServer } from 'node:http'
import { serveFigures } from './figures.ts'

/** What everything is measured against: Node's own server with the same small answer. */
const server = createServer({ keepAliveTimeout: 60_000 }, (_request, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 15 })
  response.end('{"hello":"you"}')
})
server.listen(0, '127.0.0.1', () => serveFigures(server))
