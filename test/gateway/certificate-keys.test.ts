import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { Agent, request } from 'node:https'
import t, { type Test } from 'tap'
import { run, tempFolder } from '../cli/run.ts'
import { ask as askHttp2 } from '../http/h2/ask.ts'
import { startBoth } from '../setup/both.ts'
import { type Certificate, expiredCertificate, makeCertificate } from '../setup/certificates.ts'
import { until } from '../setup/net.ts'

const server = makeCertificate(t, 'IP:127.0.0.1')
const [mine, other] = ['a', 'b'].map((name) => makeCertificate(t, `DNS:${name}`, name)) as [
  Certificate,
  Certificate,
]
const digestOf = ({ cert }: Certificate) =>
  createHash('sha256').update(new X509Certificate(cert).raw).digest('hex')

/** A gateway whose accounts may have certificates as keys. */
async function start(
  t: Test,
  accept: readonly string[] = ['SecretKey', 'certificate'],
  clock?: () => number,
) {
  const folder = tempFolder(t)
  const file = (name: string, text: string) => {
    writeFileSync(`${folder}/${name}`, text)
    return { file: `${folder}/${name}` }
  }
  const clientCa = file('ca.pem', mine.cert + other.cert)
  const tls = { cert: file('cert.pem', server.cert), key: file('key.pem', server.key), clientCa }
  const route = { upstream: 'backend' }
  const { backend, gateway } = await startBoth(t, {
    ...(clock && { clock }),
    config: {
      listen: { port: 0, tls },
      keys: { sealingKey: { file: 'sealing.key' }, accept },
      routes: [
        { ...route, name: 'key', path: '/key', auth: 'secretKey' },
        { ...route, name: 'any', path: '/any', auth: 'any' },
        { ...route, name: 'optional', path: '/optional', auth: 'optional' },
        { ...route, name: 'bearer', path: '/bearer', auth: 'bearer' },
        { ...route, name: 'scoped', path: '/scoped', auth: 'any', scopes: ['orders:read'] },
      ],
    },
  })
  const user = await gateway.createAccount()
  /** As the documentation says: by the SHA-256 of the certificate. */
  const bind = async (fields: Readonly<Record<string, unknown>> = {}) => {
    const line = JSON.stringify({
      account: user.account.id,
      digest: digestOf(mine),
      name: 'laptop',
      ...fields,
    })
    writeFileSync(`${folder}/keys.jsonl`, `${line}\n`)
    const imported = await run(t, ['keys', 'import', `${folder}/keys.jsonl`, '--config', gateway.configFile])
    t.equal(imported.status, 0, imported.stderr)
  }
  return { backend, gateway, user, bind }
}

type Headers = Readonly<Record<string, string>>

/** 200, or status and code. */
async function send(url: string, certificate?: Certificate, headers?: Headers, method?: string) {
  const { status, text } = await exchange(url, certificate, headers, method)
  return status === 200 ? '200' : `${status} ${JSON.parse(text).code}`
}

async function exchange(url: string, certificate?: Certificate, headers: Headers = {}, method = 'GET') {
  const agent = new Agent({ maxCachedSessions: 0 })
  const sent = request(url, { ca: server.cert, agent, headers, method, ...certificate })
  sent.end()
  const [response] = await once(sent, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  agent.destroy()
  return { status: response.statusCode, text: Buffer.concat(chunks).toString() }
}

t.test('a certificate that an account was given stands for a key', async (t) => {
  const { backend, gateway, user, bind } = await start(t)
  t.equal(await send(`${gateway.url}/key`, mine), '401 certificate-unknown')
  await bind()
  await until('the certificate is known', async () => (await send(`${gateway.url}/key`, mine)) === '200')
  for (const path of ['/key', '/any', '/optional', '/key']) {
    t.equal(await send(gateway.url + path, mine), '200', path)
    t.equal(backend.last().headers['x-user-id'], user.account.id)
  }
  t.equal(await send(`${gateway.url}/bearer`, mine), '401 credentials-missing', 'it is a key')
  t.equal(await send(`${gateway.url}/scoped`, mine), '200', 'it is not limited')
  t.equal(await send(`${gateway.url}/key`, other), '401 certificate-unknown')
  t.equal(await send(`${gateway.url}/optional`, other), '401 certificate-unknown', 'no anonymous caller')
  t.equal(await send(`${gateway.url}/key`), '401 credentials-missing')
  t.equal(await send(`${gateway.url}/optional`), '200')
  t.equal(await send(`${gateway.url}/api/v1/accounts/usage`, mine), '200')
  t.equal(await send(`${gateway.url}/api/v1/admin/accounts`, mine), '403 role-forbidden')
  const session = connect(gateway.url, { ca: server.cert, ...mine })
  t.teardown(() => session.destroy())
  for (const path of ['/key/a', '/key/b']) t.equal((await askHttp2(session, path)).status, 200)
})

t.test('its SHA-256, which is no secret, is no key anywhere else', async (t) => {
  const { gateway, bind, user } = await start(t, ['SecretKey', 'bearer', 'basic', 'certificate'])
  await bind()
  t.equal(await send(`${gateway.url}/key`, mine), '200')
  const digest = Buffer.from(digestOf(mine), 'hex')
  const der = new X509Certificate(mine.cert).raw
  for (const text of [digest.toString('base64url'), digest.toString('hex'), der.toString('base64')]) {
    t.equal(await send(`${gateway.url}/key`, undefined, { SecretKey: text }), '401 secret-key-invalid')
    const basic = `Basic ${Buffer.from(`x:${text}`).toString('base64')}`
    t.equal(await send(`${gateway.url}/key`, undefined, { Authorization: basic }), '401 secret-key-invalid')
  }
  const basic = `Basic ${Buffer.concat([Buffer.from('x:'), der]).toString('base64')}`
  t.equal(await send(`${gateway.url}/key`, undefined, { Authorization: basic }), '401 secret-key-invalid')
  // Any other credential comes before it.
  t.equal(await send(`${gateway.url}/key`, mine, { SecretKey: 'wrong-key' }), '401 secret-key-invalid')
  t.equal(await send(`${gateway.url}/key`, other, { SecretKey: user.secretKey }), '200')
})

t.test('it is limited, expires and is revoked as any key', async (t) => {
  const { gateway, user, bind } = await start(t)
  await bind({ scopes: 'orders:read' })
  t.equal(await send(`${gateway.url}/key`, mine), '403 scope-forbidden')
  t.equal(await send(`${gateway.url}/scoped`, mine), '200')
  const keys = () => run(t, ['keys', 'list', user.account.id, '--json', '--config', gateway.configFile])
  await until('its use is recorded', async () => /"lastUsedAt": "2/.test((await keys()).stdout) || undefined)
  const revoke = ['keys', 'revoke', user.account.id, 'laptop', '--config', gateway.configFile]
  t.equal((await run(t, revoke)).status, 0)
  const startedAt = performance.now()
  await until('it is refused', async () =>
    (await send(`${gateway.url}/scoped`, mine)) === '401 certificate-unknown' ? true : undefined,
  )
  t.ok(performance.now() - startedAt < 2_000)
})

t.test('a certificate that has expired counts no more, on an open connection either', async (t) => {
  let aheadMs = 0
  const { gateway, bind } = await start(t, undefined, () => Date.now() + aheadMs)
  await bind()
  const session = connect(gateway.url, { ca: server.cert, ...mine })
  t.teardown(() => session.destroy())
  t.equal((await askHttp2(session, '/key')).status, 200)
  aheadMs = 3 * 86_400_000
  t.equal((await askHttp2(session, '/key')).status, 401)
})

t.test('a page of another origin changes nothing with the certificate of its visitor', async (t) => {
  const { gateway, bind } = await start(t)
  await bind()
  const page = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }
  t.equal(await send(`${gateway.url}/key`, mine, page, 'POST'), '403 cross-site-request')
  const refused = await exchange(`${gateway.url}/key`, mine, page, 'POST')
  t.match(
    JSON.parse(refused.text).detail,
    /^A client certificate is not accepted as a key from pages of other/,
  )
  t.equal(await send(`${gateway.url}/key`, mine, {}, 'POST'), '200')
})

t.test('without the word certificate in keys.accept no certificate counts', async (t) => {
  const { gateway, bind } = await start(t, ['SecretKey'])
  await bind()
  t.equal(await send(`${gateway.url}/key`, mine), '401 credentials-missing')
})

t.test('keys create takes the certificate itself, with the limits of a key', async (t) => {
  const { gateway, user } = await start(t)
  const folder = tempFolder(t)
  const file = (name: string, text: string) => {
    writeFileSync(`${folder}/${name}`, text)
    return `${folder}/${name}`
  }
  const create = (pem: string, ...options: readonly string[]) =>
    run(t, [
      ...['keys', 'create', user.account.email, '--certificate', pem, ...options],
      ...['--config', gateway.configFile],
    ])
  const pem = file('mine.pem', mine.cert + other.cert)
  const { validToDate } = new X509Certificate(mine.cert)
  const limits = ['--scopes', 'orders:read', '--from', '127.0.0.1', '--quota', '2/day']

  for (const [options, expected] of [
    [
      [pem, '--name', 'a', '--expires', '3d'],
      /--expires: must not be after .*, when the certificate expires/,
    ],
    [
      [file('key.pem', mine.cert + mine.key), '--name', 'a'],
      /--certificate: must not contain the private key/,
    ],
    [[file('not.pem', 'x'), '--name', 'a'], /--certificate: must be a certificate as PEM/],
    [
      [file('broken.pem', mine.cert.replace('MII', 'AII')), '--name', 'a'],
      /--certificate: cannot be read as an X.509 certificate/,
    ],
    [[file('expired.pem', expiredCertificate.cert), '--name', 'a'], /--certificate: expired on 2020-01-02/],
    [
      [file('long.pem', mine.cert + ' '.repeat(65_537 - mine.cert.length)), '--name', 'a'],
      /--certificate: must have at most 65536 characters/,
    ],
    [[`${folder}/missing.pem`, '--name', 'a'], /cannot read .*missing\.pem: no such file/],
  ] as const) {
    const [first, ...others] = options
    const refused = await create(first, ...others)
    t.equal(refused.status, 1, refused.stdout)
    t.match(refused.stderr, expected)
  }
  t.equal(await send(`${gateway.url}/key`, mine), '401 certificate-unknown')

  const created = await create(pem, '--name', 'laptop', ...limits)
  t.equal(created.status, 0, created.stderr)
  t.match(created.stdout, new RegExp(`Subject +CN=a\n +SHA-256 +${digestOf(mine)}\n`))
  t.match(created.stdout, `Expires   ${validToDate.toISOString()}`)
  t.equal(created.stderr, '')
  await until(
    'the key is known',
    async () => (await send(`${gateway.url}/scoped`, mine)) === '200' || undefined,
  )
  t.equal(await send(`${gateway.url}/key`, mine), '403 scope-forbidden')
  await send(`${gateway.url}/scoped`, mine)
  t.equal(await send(`${gateway.url}/scoped`, mine), '429 quota-exceeded')
  t.match((await create(pem, '--name', 'again')).stderr, /--certificate: is a key of this account already/)
  t.match(
    (await create(file('b.pem', other.cert), '--name', 'laptop')).stderr,
    /--name: "laptop" is the name/,
  )

  const away = await create(file('b.pem', other.cert), '--name', 'away', '--from', '192.0.2.1', '--json')
  t.match(away.json(), {
    name: 'away',
    addresses: ['192.0.2.1'],
    certificate: { subject: 'CN=b', sha256: digestOf(other) },
  })
  t.notOk('secretKey' in (away.json() as object))
  await until(
    'the second is known',
    async () => (await send(`${gateway.url}/key`, other)) !== '401 certificate-unknown' || undefined,
  )
  t.match(await send(`${gateway.url}/key`, other), /^403 /, 'it is limited to another address')
})

t.test('keys create says where certificates are not accepted', async (t) => {
  const { gateway, user } = await start(t, ['SecretKey'])
  const pem = `${tempFolder(t)}/mine.pem`
  writeFileSync(pem, mine.cert)
  const created = await run(t, [
    ...['keys', 'create', user.account.id, '--name', 'laptop', '--certificate', pem],
    ...['--config', gateway.configFile],
  ])
  t.equal(created.status, 0)
  t.match(created.stderr, 'keys.accept of this config does not name certificate')
})
