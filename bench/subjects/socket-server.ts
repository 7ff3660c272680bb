import { readFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'

/** A server of bare sockets. @param tlsFiles the files of certificate and key; without them there is no TLS */
export function createSocketServer(
  [certFile, keyFile]: readonly (string | undefined)[],
  serve: (client: Socket) => void,
): Server {
  if (certFile === undefined || keyFile === undefined) return createServer({ noDelay: true }, serve)
  return createTlsServer({ noDelay: true, cert: readFileSync(certFile), key: readFileSync(keyFile) }, serve)
}
