import { createServer } from 'node:http'
import { createVerifier } from 'fast-jwt'
import { reportUrl } from '../report-url.ts'

/** The service that nginx calls in `auth_request`: verifies an ES256 token each time, as such services mostly do. */
const verify = createVerifier({ key: process.argv[2] ?? '', algorithms: ['ES256'], cache: false })

function isGood(authorization: string | undefined): boolean {
  try {
    verify(authorization?.replace('Bearer ', '') ?? '')
    return true
  } catch {
    return false
  }
}

await reportUrl(
  createServer({ keepAliveTimeout: 60_000 }, ({ headers }, response) => {
    response.writeHead(isGood(headers.authorization) ? 204 : 401, { 'Content-Length': 0 }).end()
  }),
)
