import { createServer } from 'node:http'
import { reportUrl } from '../report-url.ts'

/** The baseline: Node's own server, which responds itself and forwards nothing. */
await reportUrl(
  createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    function answer(): void {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 15 })
      response.end('{"hello":"you"}')
    }
    if (request.method === 'GET') answer()
    else request.on('end', answer).resume()
  }),
)
