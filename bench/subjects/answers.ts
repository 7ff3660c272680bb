import { createServer } from 'node:http'
import { reportUrl } from '../report-url.ts'

/** What nginx asks in place of a gateway: it looks at nothing, and has its answer ready. */
const headers = {
  'Cache-Control': 'no-store',
  'X-Request-Id': '00000000-0000-4000-8000-000000000000',
  'X-User-Id': 'wEOw89plAQEvfHKJ',
  'X-User-Role': 'User',
  'Content-Length': 0,
}

await reportUrl(
  createServer({ keepAliveTimeout: 60_000 }, (_request, response) => {
    response.writeHead(200, headers).end()
  }),
)
