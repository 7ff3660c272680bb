import { once } from 'node:events'
import { createServer } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import type { Certificate } from '../setup/certificates.ts'
import { portOf } from '../setup/net.ts'

/** Answers with the protocol and the server name that the client asked for. */
export async function startTlsBackend(t: Test, certificate: Certificate) {
  let connections = 0
  const server = createServer(certificate, ({ socket }, response) => {
    // The cast is sound: a server for TLS has no other sockets, and Node documents the member.
    const { alpnProtocol, servername } = socket as TLSSocket & { readonly servername: string | false }
    response.end(`${alpnProtocol} ${servername}`)
  }).listen(0, '127.0.0.1')
  server.on('secureConnection', () => connections++)
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { port: portOf(server), countConnections: () => connections }
}
