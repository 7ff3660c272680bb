import { createPrivateKey } from 'node:crypto'
import { availableParallelism } from 'node:os'
import t from 'tap'
import { expiredCertificate, makeCertificate } from '../../setup/certificates.ts'
import { load, minimalConfig, problemMessages } from '../config-fixtures.ts'

const listen = (options: object) => ({ ...minimalConfig, listen: options })
const tls = listen({ tls: { cert: { file: 'tls.crt' }, key: { file: 'tls.key' } } })
const at = 'listen.tls'

t.test('workers may be auto or a number', async (t) => {
  for (const workers of [1, 2, 256]) t.equal(load(t, listen({ workers })).listen.workers, workers)
  t.equal(load(t, listen({ workers: 'auto' })).listen.workers, availableParallelism())
  for (const workers of [0, 257, 1e9, 1.5, 'all', '2'])
    t.match(problemMessages(t, listen({ workers })), [/^listen\.workers: must be /], String(workers))
})

t.test('a TLS certificate and its key are read, whatever follows the certificate', async (t) => {
  const mine = makeCertificate(t, 'DNS:localhost')
  const chain = mine.cert + expiredCertificate.cert
  const { listen } = load(t, tls, { files: { 'config/tls.crt': chain, 'config/tls.key': mine.key } })
  t.strictSame(listen.tls, { cert: chain.trimEnd(), key: mine.key.trimEnd(), clientCa: undefined })
  const fromEnv = { tls: { cert: { env: 'CERT' }, key: { env: 'KEY' } } }
  const env = { CERT: mine.cert, KEY: mine.key }
  t.equal(load(t, { ...minimalConfig, listen: fromEnv }, { env }).listen.tls?.cert, mine.cert)
})

t.test('a bad TLS certificate, key or pair is reported at its option', async (t) => {
  const [mine, other] = [makeCertificate(t, 'DNS:localhost'), makeCertificate(t, 'DNS:localhost')]
  const problemsOf = (cert: string, key: string) =>
    problemMessages(t, tls, { files: { 'config/tls.crt': cert, 'config/tls.key': key } })
  t.strictSame(problemMessages(t, tls), [
    `${at}.cert: cannot read config/tls.crt: no such file or directory`,
    `${at}.key: cannot read config/tls.key: no such file or directory`,
  ])
  t.strictSame(problemsOf(mine.cert, other.key), [
    `${at}.key: is not the key of the certificate in listen.tls.cert`,
  ])
  t.strictSame(problemsOf('nonsense', mine.key), [`${at}.cert: contains no PEM certificate`])
  t.strictSame(problemsOf(mine.cert, mine.cert), [
    `${at}.key: contains a certificate, not its key: are cert and key swapped?`,
  ])
  t.strictSame(problemsOf(mine.key, mine.cert), [
    `${at}.cert: contains a private key, not a certificate: are cert and key swapped?`,
    `${at}.key: contains a certificate, not its key: are cert and key swapped?`,
  ])
  t.strictSame(problemsOf(mine.cert, 'nonsense'), [`${at}.key: contains no PEM private key`])
  t.strictSame(problemsOf(mine.cert, encrypted(mine.key)), [
    `${at}.key: is encrypted: give it without a passphrase, in a file that only the gateway reads`,
  ])
  t.strictSame(problemMessages(t, listen({ tls: { cert: { file: 'tls.crt' } } })), [
    `${at}.key: is missing`,
    `${at}.cert: cannot read config/tls.crt: no such file or directory`,
  ])
})

t.test('the ops listener needs a port of its own, however both are set', async (t) => {
  const ofListen = 'listen.port: conflicts with ops.port on the same address: choose another port'
  const ofOps = 'ops.port: conflicts with listen.port on the same address: choose another port'
  t.strictSame(problemMessages(t, listen({ port: 9090 })), [ofListen])
  t.strictSame(problemMessages(t, minimalConfig, { settings: ['listen.port=9090'] }), [ofListen])
  t.strictSame(problemMessages(t, minimalConfig, { env: { GATEHOUSE__OPS__PORT: '8080' } }), [ofOps])
  for (const [host, opsHost, isSame] of [
    ['0.0.0.0', '127.0.0.1', true],
    ['127.0.0.1', '::', true],
    ['localhost', '127.0.0.1', true],
    ['::1', '0:0::1', true],
    ['10.0.0.1', '127.0.0.1', false],
    ['0.0.0.0', '::1', false],
  ] as const) {
    const config = { ...listen({ host, port: 8081 }), ops: { host: opsHost, port: 8081 } }
    t.strictSame(problemMessages(t, config), isSame ? [ofOps] : [], `${host} ${opsHost}`)
  }
  t.strictSame(problemMessages(t, { ...listen({ port: 0 }), ops: { port: 0 } }), [])
})

function encrypted(pem: string): string {
  const protection = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'hunter2' } as const
  return createPrivateKey(pem).export(protection).toString()
}

t.test('the listener for other proxies has an address of its own', async (t) => {
  t.strictSame(load(t, { ...minimalConfig, decide: {} }).decide, { host: '127.0.0.1', port: 8081 })
  const problems = (decide: object) => problemMessages(t, { ...minimalConfig, decide })
  for (const port of [0, 8081, 65_535]) t.strictSame(problems({ port }), [], String(port))
  t.match(problems({ port: 65_536 }), [/^decide\.port: must be /])
  for (const [port, section] of [
    [8080, 'listen'],
    [9090, 'ops'],
  ] as const)
    for (const host of ['127.0.0.1', '0.0.0.0'])
      t.strictSame(problems({ host, port }), [
        `decide.port: conflicts with ${section}.port on the same address: choose another port`,
      ])
})

t.test('each listener, and the mail server, has a host name or an address', async (t) => {
  const long = `${'a'.repeat(63)}.${'b'.repeat(63)}.example`
  const hosts = ['127.0.0.1', '0.0.0.0', '::', '::1', '0:0::1', '::ffff:10.0.0.1', 'fe80::1%eth0']
  const names = [
    'localhost',
    'LOCALHOST',
    'a',
    'smtp.example.com.',
    'a_b-c',
    '1.example',
    'b\u00fccher.example',
    long,
  ]
  const text = 'must be a host name or an IP address'
  const problemsOf = (host: string) =>
    problemMessages(t, {
      ...minimalConfig,
      listen: { host },
      ops: { host },
      decide: { host },
      mail: { host, from: 'gatehouse@example.com' },
    })
  const everywhere = (message: string) =>
    ['listen.host', 'ops.host', 'decide.host', 'mail.host'].map((option) => `${option}: ${message}`)
  for (const host of [...hosts, ...names]) t.strictSame(problemsOf(host), [], host)
  const forms = ['http://localhost', 'smtp://h', 'h:25', '127.0.0.1:80', 'a b', ' a', 'a\n', 'a/b', 'u@h']
  const misspelt = [
    '300.1.1.1',
    '10.0.0',
    '010.0.0.1',
    '1',
    '.',
    '..',
    'a..b',
    '-a',
    'a-',
    'a*',
    '%61',
    ':::',
  ]
  for (const host of [...forms, ...misspelt, `${'a'.repeat(64)}.b`, `${'a.'.repeat(126)}bc`])
    t.strictSame(problemsOf(host).toSorted(), everywhere(`${text}, without scheme and port`).toSorted(), host)
  t.match(problemsOf('[::1]'), [`listen.host: ${text}, without brackets`])
  t.match(problemsOf('*'), [
    `listen.host: ${text}: 0.0.0.0 stands for all IPv4 addresses, :: for all addresses`,
  ])
})

t.test('plain HTTP is redirected only beside TLS, from a port of its own', async (t) => {
  const { cert, key } = makeCertificate(t, 'DNS:localhost')
  const pair = { cert: { env: 'CERT' }, key: { env: 'KEY' } }
  const env = { CERT: cert, KEY: key }
  const problems = (options: object, others: object = {}) =>
    problemMessages(t, { ...listen({ port: 8443, tls: pair, ...options }), ...others }, { env })
  for (const port of [0, 80, 65_535]) t.strictSame(problems({ redirect: { port } }), [], String(port))
  t.strictSame(problemMessages(t, listen({ redirect: { port: 80 } })), [
    'listen.redirect: needs listen.tls: without it listen.port itself speaks plain HTTP',
  ])
  t.strictSame(problems({ redirect: { port: 8443 } }), [
    'listen.redirect.port: conflicts with listen.port on the same address: choose another port',
  ])
  t.match(problems({ redirect: { port: 9090 } }), [/conflicts with ops\.port/])
  t.match(problems({ redirect: { port: 8081 } }, { decide: {}, trustedProxies: ['10.0.0.1'] }), [
    /conflicts with decide\.port/,
  ])
  t.strictSame(problems({ host: '127.0.0.2', redirect: { port: 9090 } }), [])
  t.match(problems({ redirect: {} }), [/listen\.redirect\.port: is missing/])
  for (const port of [-1, 65_536, '80'])
    t.match(problems({ redirect: { port } }), [/listen\.redirect\.port: must be/])
})

t.test('clientCa must have a certificate', async (t) => {
  const mine = makeCertificate(t, 'DNS:localhost')
  const config = { tls: { cert: { env: 'CERT' }, key: { env: 'KEY' }, clientCa: { env: 'CA' } } }
  const env = { CERT: mine.cert, KEY: mine.key }
  t.equal(load(t, listen(config), { env: { ...env, CA: mine.cert } }).listen.tls?.clientCa, mine.cert)
  t.match(problemMessages(t, listen(config), { env: { ...env, CA: mine.key } }), [
    /^listen\.tls\.clientCa: contains no PEM certificate/,
  ])
})
