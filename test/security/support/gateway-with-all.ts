import type { Test } from 'tap'
import { startCannedBackend } from '../../setup/backend.ts'
import { startGateway } from '../../setup/gateway.ts'

const config = {
  trustedProxies: ['127.0.0.1'],
  decide: { port: 0 },
  cors: { origins: ['https://app.example.com'] },
  accessCookie: { enabled: true },
  tracing: { otlp: { endpoint: 'http://127.0.0.1:1', sampleRatio: 1 } },
  keys: { sealingKey: { file: 'sealing.key' }, accept: ['SecretKey', 'X-Api-Key', 'bearer', 'basic'] },
  portal: { host: 'portal.test' },
  issuers: [
    {
      name: 'corp',
      // Nobody is there.
      issuer: 'http://127.0.0.1:1',
      audience: 'orders',
      registration: { clientId: 'mcp', redirectUris: ['http://localhost/callback'] },
    },
  ],
  routes: [
    { name: 'public', path: '/public', upstream: 'backend', auth: 'none' },
    { name: 'below', path: '/public/Other/one', upstream: 'backend', auth: 'any' },
    { name: 'hosted', path: '/public', host: 'api.test', upstream: 'backend', auth: 'any' },
    { name: 'stripped', path: '/stripped', upstream: 'backend', auth: 'none', stripPrefix: true },
    { name: 'slashes', path: '/slashes', upstream: 'backend', auth: 'none', encodedSlash: 'pass' },
    { name: 'any', path: '/any', upstream: 'backend', auth: 'any' },
    { name: 'left', path: '/left', upstream: 'backend', auth: 'none', authorization: 'backend' },
    {
      name: 'browser',
      path: '/browser',
      upstream: 'backend',
      auth: 'any',
      browser: { cookie: true, signIn: true },
    },
    { name: 'sockets', path: '/sockets', upstream: 'backend', auth: 'none', websocket: true },
  ],
}

/** A gateway with all that reads more of a request. */
export async function startWithAll(t: Test) {
  const backend = await startCannedBackend(t, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  return startGateway(t, { backend, config })
}
