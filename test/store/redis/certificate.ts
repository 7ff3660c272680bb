import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { TlsFiles } from '../../setup/redis.ts'

/** A certificate for 127.0.0.1, self-signed, and its key: for tests only, valid for a century. */

export const certificate = `-----BEGIN CERTIFICATE-----
MIIBmTCCAUCgAwIBAgIUElaMq7LNr+hTWTNYaed/9YemTeIwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOZ2F0ZWhvdXNlIHRlc3QwIBcNMjYxMTIxMTAyMzI5WhgPMjEy
NjEwMjgxMDIzMjlaMBkxFzAVBgNVBAMMDmdhdGVob3VzZSB0ZXN0MFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEXHOOQ2zwHgDJHBqTJQKj1OqMjiTSCqXGjF/YMXgZ
jxXGTSON+VKLrmEa/G4tGo6FalNck9CFBfCbW1EPe3bAzqNkMGIwHQYDVR0OBBYE
FCj8viwWWvurPy0TW4lVF2kYve+FMB8GA1UdIwQYMBaAFCj8viwWWvurPy0TW4lV
F2kYve+FMA8GA1UdEwEB/wQFMAMBAf8wDwYDVR0RBAgwBocEfwAAATAKBggqhkjO
PQQDAgNHADBEAiB8EV4WOXReznOUPT7wB6f1L9lJGlD3x/pwY5ermLJBfQIgVuzt
3WX8AqZCBquMFDbbVhlvjIXbYjUAMUA7ncIP//w=
-----END CERTIFICATE-----
`

export const certificateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5loUcVOCSaPqeGwa
l1zceXyYmHMs1gKO++tNlCEnm9+hRANCAARcc45DbPAeAMkcGpMlAqPU6oyOJNIK
pcaMX9gxeBmPFcZNI435UouuYRr8bi0ajoVqU1yT0IUF8JtbUQ97dsDO
-----END PRIVATE KEY-----
`

/** Writes both to files, gone with the test. */
export function writeCertificate(t: Test): TlsFiles {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const files = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') }
  writeFileSync(files.cert, certificate)
  writeFileSync(files.key, certificateKey)
  return files
}
