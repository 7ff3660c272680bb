import { readFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { acceptQueuesMax, createFurtherQueues } from '#http/server/listener.ts'
import { reportUrl } from './report-url.ts'

const options = { noDelay: true }

/**
 * Serves bare sockets, and reports its URL. Clients that connect at once are accepted as soon as by the gateway: with
 * one socket that listens, the last of a thousand would wait for seconds.
 * @param tlsFiles the files of certificate and key; without them there is no TLS
 */
export function serveSockets(
  tlsFiles: readonly (string | undefined)[],
  serve: (client: Socket) => void,
): Promise<void> {
  const first = createSocketServer(tlsFiles, serve)
  return reportUrl(first, 0, createFurtherQueues(first, options, acceptQueuesMax - 1))
}

function createSocketServer(
  [certFile, keyFile]: readonly (string | undefined)[],
  serve: (client: Socket) => void,
): Server {
  if (certFile === undefined || keyFile === undefined) return createServer(options, serve)
  return createTlsServer({ ...options, cert: readFileSync(certFile), key: readFileSync(keyFile) }, serve)
}
