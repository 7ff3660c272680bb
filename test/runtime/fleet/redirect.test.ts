import { readFileSync } from 'node:fs'
import t from 'tap'
import { makeCertificate } from '../../setup/certificates.ts'
import { rawRequest } from '../../setup/raw-client.ts'
import { serveFleet } from './fleet.ts'

// slow: starts a fleet

t.test('all workers redirect plain HTTP on one port, and the ready file says where', async (t) => {
  const { cert, key } = makeCertificate(t, 'DNS:localhost,IP:127.0.0.1')
  const tls = { cert: { file: 'tls.crt' }, key: { file: 'tls.key' } }
  const fleet = await serveFleet(t, {
    config: { publicUrl: 'https://api.example.com', listen: { port: 0, tls, redirect: { port: 0 } } },
    files: { 'tls.crt': cert, 'tls.key': key },
  })
  const { redirectUrl } = JSON.parse(readFileSync(fleet.readyFile, 'utf8')) as {
    readonly redirectUrl: string
  }
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => rawRequest(t, redirectUrl, ['GET /x?y HTTP/1.1', 'Host: evil.example'])),
  )
  for (const { status, headers } of answers) {
    t.equal(status, 308)
    t.equal(headers.location, 'https://api.example.com/x?y')
  }
})
