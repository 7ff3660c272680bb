import t, { type Test } from 'tap'
import { problemText } from '#config/problem.ts'
import { findWarnings } from '#config/warnings/find-warnings.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { makeCertificate } from '../../setup/certificates.ts'
import { minimalConfig, type Options, read, withUpstream } from '../config-fixtures.ts'

function warnings(t: Test, options: Options, env: Readonly<Record<string, string>> = {}): readonly string[] {
  const reading = read(t, { ...minimalConfig, ...options }, { env })
  t.strictSame(reading.problems, [])
  return findWarnings(reading, createOwnPaths(reading.tree.portal), { env }).map(
    ({ path, ...texts }) => `${path.join('.')}: ${problemText(texts)}`,
  )
}

const trustedProxies = ['10.0.0.1']

t.test('a TLS terminator that is not trusted is warned of', async (t) => {
  const publicUrl = 'https://api.example.com'
  const message =
    'trustedProxies: is empty, but publicUrl is https and there is no listen.tls: all clients seem to have the address of the proxy that terminates TLS, in limits and in the log: list its address'
  t.strictSame(warnings(t, { publicUrl }), [message])
  t.strictSame(warnings(t, { publicUrl, trustedProxies }), [])
  t.strictSame(warnings(t, {}), [], 'no TLS')
  const tls = { cert: { env: 'CERT' }, key: { env: 'KEY' } }
  const { cert, key } = makeCertificate(t, 'DNS:api.example.com')
  t.strictSame(warnings(t, { publicUrl, listen: { tls } }, { CERT: cert, KEY: key }), [], 'TLS of its own')
})

t.test('a local publicUrl with a port that is not listened on is warned of', async (t) => {
  const rest = 'so links are broken and the portal rejects forms: use the same port for both'
  const publicUrl = 'http://localhost:9000'
  t.strictSame(warnings(t, { publicUrl }), [`publicUrl: has port 9000, but listen.port is 8080, ${rest}`])
  t.strictSame(warnings(t, { publicUrl: 'http://[::1]' }), [
    `publicUrl: has port 80, but listen.port is 8080, ${rest}`,
  ])
  t.strictSame(warnings(t, { publicUrl, listen: { port: 9000 } }), [])
  t.strictSame(warnings(t, { publicUrl, listen: { port: 0 } }), [], 'any port')
  t.strictSame(
    warnings(t, { publicUrl: 'https://api.example.com', listen: { port: 9000 }, trustedProxies }),
    [],
  )
})

t.test("behind a proxy the port of publicUrl may be the proxy's", async (t) => {
  t.strictSame(warnings(t, { publicUrl: 'http://localhost:9000', trustedProxies: ['127.0.0.1'] }), [])
  t.strictSame(
    warnings(t, { publicUrl: 'https://localhost', trustedProxies }),
    [],
    'which speaks TLS in its place',
  )
  const tls = { cert: { env: 'CERT' }, key: { env: 'KEY' } }
  const { cert, key } = makeCertificate(t, 'DNS:localhost')
  const own = warnings(t, { publicUrl: 'https://localhost', listen: { tls } }, { CERT: cert, KEY: key })
  t.match(own, [/^publicUrl: has port 443, but listen\.port is 8080/], 'unless it has TLS of its own')
})

t.test('a local publicUrl is warned of where clients come from elsewhere', async (t) => {
  for (const host of ['0.0.0.0', '::', '10.0.0.5', 'api.example.com']) {
    t.strictSame(
      warnings(t, { listen: { host } }),
      [
        'publicUrl: works only for browsers on this machine, but listen.host lets other machines connect, which cannot use the portal: set the URL that clients use',
      ],
      host,
    )
  }
  for (const host of ['localhost', '127.0.0.2', '::1'])
    t.strictSame(warnings(t, { listen: { host } }), [], host)
  const publicUrl = 'https://api.example.com'
  t.strictSame(warnings(t, { listen: { host: '0.0.0.0' }, publicUrl, trustedProxies }), [])
  t.strictSame(warnings(t, { listen: { host: '0.0.0.0' }, portal: { enabled: false } }), [])
})

t.test('an ops listener reachable from elsewhere is warned of', async (t) => {
  for (const host of ['0.0.0.0', '::', '10.0.0.5']) {
    t.strictSame(
      warnings(t, { ops: { host } }),
      [
        'ops.host: anyone who reaches this address can read all metrics and POST /reload: bind it to a private address, or restrict access to your monitoring',
      ],
      host,
    )
  }
  for (const host of ['localhost', '::1']) t.strictSame(warnings(t, { ops: { host } }), [], host)
})

const loops: readonly (readonly [url: string, host: string, isLoop: boolean])[] = [
  ['http://127.0.0.1:8080', '127.0.0.1', true],
  ['http://localhost:8080', '127.0.0.1', true],
  ['http://LOCALHOST:8080', 'localhost', true],
  ['http://[::1]:8080', '::1', true],
  ['http://127.0.0.1:8080', '0.0.0.0', true],
  ['http://0.0.0.0:8080', '0.0.0.0', true],
  ['http://10.0.0.5:8080', '10.0.0.5', true],
  ['http://10.0.0.6:8080', '0.0.0.0', false],
  ['http://10.0.0.6:8080', '10.0.0.5', false],
  ['http://127.0.0.1:8081', '127.0.0.1', false],
  ['http://127.0.0.1:8080', '10.0.0.5', false],
]

for (const [url, host, isLoop] of loops) {
  t.test(`${url} is ${isLoop ? '' : 'not '}warned of as a loop where ${host} is listened on`, async (t) => {
    const options = {
      ...withUpstream({ targets: [{ url: 'http://10.0.0.9:3000' }, { url }] }),
      listen: { host },
      publicUrl: 'https://api.example.com',
      trustedProxies,
    }
    const message =
      'upstreams.backend.targets.1.url: is the gateway itself, so requests would loop: use the address of a backend'
    t.strictSame(warnings(t, options), isLoop ? [message] : [])
  })
}
