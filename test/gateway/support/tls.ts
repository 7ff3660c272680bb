import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import type { Certificate } from '../../setup/certificates.ts'
import { RawClient } from '../../setup/raw-client.ts'

export interface CertificateFiles {
  /** `listen.tls` of a config. */
  readonly tls: { readonly cert: { readonly file: string }; readonly key: { readonly file: string } }
  write(certificate: Certificate): void
}

/** The files that a config names, gone with the test. */
export function certificateFiles(t: Test, certificate: Certificate): CertificateFiles {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const [cert, key] = [join(dir, 'tls.crt'), join(dir, 'tls.key')]
  const write: CertificateFiles['write'] = (pair) => {
    writeFileSync(cert, pair.cert)
    writeFileSync(key, pair.key)
  }
  write(certificate)
  return { tls: { cert: { file: cert }, key: { file: key } }, write }
}

export interface TlsClient extends RawClient {
  readonly socket: TLSSocket
}

/** A client that checks the certificate against `ca`. @throws what the handshake fails with */
export async function connectTls(t: Test, url: string, options: ConnectionOptions): Promise<TlsClient> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), ALPNProtocols: ['http/1.1'], ...options })
  t.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  // The cast is sound: it holds the socket it was made with.
  return new RawClient(socket) as TlsClient
}
