import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificate } from '../../test/setup/certificates.ts'
import type { Scope } from '../scope.ts'

/** A certificate for 127.0.0.1 on P-256, and its key, as files. */
export interface TlsFiles {
  readonly cert: string
  readonly certFile: string
  readonly keyFile: string
  /** Both, as HAProxy reads them. */
  readonly bothFile: string
}

export function makeTlsFiles(scope: Scope): TlsFiles {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-tls-'))
  scope.teardown(() => rmSync(dir, { recursive: true, force: true }))
  // With one subject for all, a client that trusts several would take one for another.
  const { cert, key } = makeCertificate(scope, 'IP:127.0.0.1', randomUUID())
  const [certFile, keyFile, bothFile] = [join(dir, 'tls.crt'), join(dir, 'tls.key'), join(dir, 'tls.pem')]
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key, { mode: 0o600 })
  writeFileSync(bothFile, cert + key, { mode: 0o600 })
  return { cert, certFile, keyFile, bothFile }
}
