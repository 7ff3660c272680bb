import { generateKeyPairSync } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import t from 'tap'
import { makeCertificate } from '../../setup/certificates.ts'
import { load, minimalConfig, problemMessages, withUpstream } from '../config-fixtures.ts'

const target = (url: string) => withUpstream({ targets: [{ url: 'http://10.0.0.11' }, { url }] })

t.test('a target must be an http(s) origin, or a Unix socket', async (t) => {
  const isOrigin = [
    'http://10.0.0.11:3000',
    'http://10.0.0.11:3000/',
    'https://orders.internal',
    'http://[fd00::1]:3000',
    'HTTP://localhost',
    'unix:/run/app.sock',
    'unix:run/with space.sock',
    `unix:/${'s'.repeat(106)}`,
  ]
  for (const url of isOrigin) t.strictSame(problemMessages(t, target(url)), [], url)
  const isNone: Readonly<Record<string, string>> = {
    '10.0.0.11:3000': 'must be a URL such as http://10.0.0.11:3000',
    'localhost:3000': 'must be a URL such as http://10.0.0.11:3000',
    '/orders': 'must be a URL such as http://10.0.0.11:3000',
    'ftp://10.0.0.11': 'must be a URL such as http://10.0.0.11:3000',
    'ws://10.0.0.11': 'must be a URL such as http://10.0.0.11:3000',
    'unix:': 'must have the path of a socket after unix:, as in unix:/run/app.sock',
    'unix:///run/app.sock': 'must have the path of a socket after unix:, as in unix:/run/app.sock',
    'unix:/run/': 'must have the path of a socket after unix:, as in unix:/run/app.sock',
    'unix:/run/a?b': 'must have the path of a socket after unix:, as in unix:/run/app.sock',
    'unix:/run/a#b': 'must have the path of a socket after unix:, as in unix:/run/app.sock',
    [`unix:/${'s'.repeat(107)}`]: 'must have a path of at most 107 bytes, as sockets have',
    [`unix:/${'s'.repeat(20_000)}`]: 'must have a path of at most 107 bytes, as sockets have',
    'http://': 'must be a URL such as http://10.0.0.11:3000',
    'http://10.0.0.11:99999': 'must be a URL such as http://10.0.0.11:3000',
    'http://user@10.0.0.11': 'must not contain credentials',
    'http://user:hunter2@10.0.0.11': 'must not contain credentials',
    'http://10.0.0.11/?a=b': 'must have no query or fragment',
    'http://10.0.0.11/#a': 'must have no query or fragment',
  }
  for (const [url, complaint] of Object.entries(isNone)) {
    t.strictSame(problemMessages(t, target(url)), [`upstreams.backend.targets[1].url: ${complaint}`], url)
  }
})

t.test('trusted CAs must be readable PEM', async (t) => {
  const ca = withUpstream({ tls: { ca: { file: 'ca.pem' } } })
  const at = 'upstreams.backend.tls.ca'
  const [certificate = ''] = rootCertificates
  const found = load(t, ca, { files: { 'config/ca.pem': `${certificate}\n` } })
  t.match(found.upstreams[0]?.tls, { verify: true, ca: certificate })
  t.strictSame(problemMessages(t, ca), [`${at}: cannot read config/ca.pem: no such file or directory`])
  for (const content of ['nonsense', '-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----'])
    t.strictSame(problemMessages(t, ca, { files: { 'config/ca.pem': content } }), [
      `${at}: contains no PEM certificate`,
    ])
  const byName = withUpstream({ tls: { ca: { env: 'BACKEND_CA' } } })
  t.strictSame(problemMessages(t, byName), [`${at}: the environment variable BACKEND_CA is not set`])
  t.strictSame(problemMessages(t, byName, { env: { BACKEND_CA: certificate } }), [])
})

t.test('targets of an upstream are checked though something else in it is wrong', async (t) => {
  const upstream = { targets: [{ url: 'nowhere' }], connections: 0, host: 'clent' }
  t.strictSame(problemMessages(t, { ...minimalConfig, upstreams: { backend: upstream } }), [
    'upstreams.backend.targets[0].url: must be a URL such as http://10.0.0.11:3000',
    'upstreams.backend.connections: must be a whole number from 1 to 65535',
    'upstreams.backend.host: must be one of client, target, did you mean "client"?',
  ])
})

t.test('the path of a health check must be valid in a request line', async (t) => {
  const active = (path: unknown) => withUpstream({ health: { active: { path } } })
  for (const path of ['/', '/healthz', '/a/b?c=d&e=%20', '/~a;b'])
    t.strictSame(problemMessages(t, active(path)), [], path)
  for (const path of [
    '',
    'healthz',
    'http://a/b',
    '/a b',
    '/a\r\nX: y',
    '/a\n',
    '/a#b',
    '/\u00e9',
    '/a\u0000',
  ])
    t.strictSame(
      problemMessages(t, active(path)),
      [
        `upstreams.backend.health.active.path: has an invalid format: it must ${path.startsWith('/') ? 'match ^/[!"$-~]*$' : 'begin with /'}`,
      ],
      JSON.stringify(path),
    )
  t.strictSame(problemMessages(t, active(undefined)), [
    'upstreams.backend.health.active.path: is missing: set path or grpc',
  ])
})

t.test('a health check of gRPC has no path, and needs HTTP/2', async (t) => {
  const checked = (active: object, upstream: object = { protocol: 'http2' }) =>
    withUpstream({ health: { active }, ...upstream })
  const at = 'upstreams.backend.health.active'
  const good = load(t, checked({ grpc: { service: 'shop.Orders' } })).upstreams[0]?.health.active
  t.match(good, { grpcService: 'shop.Orders', timeoutMs: 2_000 })
  t.match(load(t, checked({ grpc: {} })).upstreams[0]?.health.active, { grpcService: '' })
  t.strictSame(problemMessages(t, checked({ grpc: {}, path: '/' })), [
    `${at}.path: cannot be combined with grpc`,
  ])
  t.strictSame(problemMessages(t, checked({ grpc: {} }, {})), [`${at}.grpc: needs protocol: http2`])
  t.strictSame(problemMessages(t, checked({ grpc: { service: 'a b' } })), [
    `${at}.grpc.service: has an invalid format: it must match ^[!-~]{0,255}$`,
  ])
})

t.test('the base path of a target is one that all servers read alike', async (t) => {
  for (const path of ['/', '/base', '/base/', '/a/b.c/~d', '/a%20b', `/${'a'.repeat(2_000)}`])
    t.strictSame(problemMessages(t, target(`http://10.0.0.11:3000${path}`)), [], path)
  const at = 'upstreams.backend.targets[1].url'
  const dots = `${at}: must have no dot segment (. or ..) in its base path`
  for (const path of ['/.', '/..', '/a/../b', '/a/./', '/%2e%2E/b', '/a/.%2e', '/a\\..\\b', '/a/..;x/b'])
    t.strictSame(problemMessages(t, target(`http://10.0.0.11:3000${path}`)), [dots], path)
  for (const path of ['//', '/a//b', '/a\\b', '/a;b', '/a%2fb', '/a%5Cb', '/a%', '/a b', '/\u00e9'])
    t.match(
      problemMessages(t, target(`http://10.0.0.11:3000${path}`))[0],
      `${at}: must have a base path without`,
      path,
    )
})

t.test('a path of a socket is relative to the config file', async (t) => {
  const { upstreams } = load(t, withUpstream({ targets: [{ url: 'unix:run/a b%20.sock' }] }))
  const { pathname } = upstreams[0]?.targets[0]?.url ?? {}
  t.match(decodeURIComponent(pathname ?? ''), /^\/.*\/config\/run\/a b%20\.sock$/)
})

t.test('the client certificate and its key are checked as a pair', async (t) => {
  const [one, other] = [makeCertificate(t, 'DNS:gateway'), makeCertificate(t, 'DNS:gateway')]
  const { privateKey: encrypted } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
  })
  const at = 'upstreams.backend.tls'
  const both = { cert: { file: 'c.pem' }, key: { file: 'k.pem' } }
  const found = (tls: object, cert = one.cert, key = one.key) =>
    problemMessages(t, withUpstream({ tls }), { files: { 'config/c.pem': cert, 'config/k.pem': key } })
  t.strictSame(found(both), [])
  t.strictSame(found({ cert: both.cert }), [`${at}.cert: needs its key: set tls.key too`])
  t.strictSame(found({ key: both.key }), [`${at}.key: needs its certificate: set tls.cert too`])
  t.strictSame(found(both, one.cert, other.key), [
    `${at}.key: is not the key of the certificate in upstreams.backend.tls.cert`,
  ])
  t.strictSame(found(both, one.cert, encrypted), [
    `${at}.key: is encrypted: give it without a passphrase, in a file that only the gateway reads`,
  ])
  t.strictSame(found(both, one.key, one.key), [
    `${at}.cert: contains a private key, not a certificate: are cert and key swapped?`,
  ])
})

t.test('tls.serverName must be a host name', async (t) => {
  const found = (serverName: string) => problemMessages(t, withUpstream({ tls: { serverName } }))
  t.strictSame(found('orders.internal'), [])
  const at = 'upstreams.backend.tls.serverName'
  for (const address of ['10.0.0.11', '::1', '[::1]'])
    t.strictSame(found(address), [
      `${at}: must be a host name: a certificate for an address is found by the address in url`,
    ])
  for (const wrong of ['https://orders.internal', 'orders.internal:443', '*', 'a b'])
    t.match(found(wrong)[0], `${at}: must be a host name or an IP address`)
})
