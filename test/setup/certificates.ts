import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** A certificate that vouches for itself, good for two days. @param names such as `DNS:localhost,IP:127.0.0.1` */
export function makeCertificate(t: { teardown(end: () => void): unknown }, names: string): Certificate {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const [keyFile, certFile] = [join(dir, 'tls.key'), join(dir, 'tls.crt')]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const subject = ['-subj', '/CN=test', '-addext', `subjectAltName=${names}`]
  execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', keyFile, '-out', certFile], {
    stdio: 'ignore',
  })
  return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8') }
}

/** For localhost and 127.0.0.1, good on one day of January 2020; of the tests alone. */
export const expiredCertificate: Certificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg8O+qNDlVam7yR0dt
yP+u5q4i5q4GrE0XwpFw5Y5XSlmhRANCAATZsulSSK9F/LJsS2jyesylZPtwe/B7
0sFg5yiXVip0ZpEkKkSR0LqHa+3mXtvPb0vO1juB6ahv10Fo6G62ggIz
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBXTCCAQSgAwIBAgIBATAKBggqhkjOPQQDAjASMRAwDgYDVQQDDAdleHBpcmVk
MB4XDTIwMDEwMTAwMDAwMFoXDTIwMDEwMjAwMDAwMFowEjEQMA4GA1UEAwwHZXhw
aXJlZDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNmy6VJIr0X8smxLaPJ6zKVk
+3B78HvSwWDnKJdWKnRmkSQqRJHQuodr7eZe289vS87WO4HpqG/XQWjobraCAjOj
SzBJMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAMBgNVHRMEBTADAQH/MB0G
A1UdDgQWBBRY6ZyJIYTSA2I2r0XAMaSIlvR2fDAKBggqhkjOPQQDAgNHADBEAiBl
cpp//ZBrPP6ywTZhKHRaVO5Bx0CZfsBjs2Epmh53lgIgSljWyxiJrJppR1TNQQJx
FDSWCRXcRcPEQfB6NUoDWws=
-----END CERTIFICATE-----
`,
}
