import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { Agent, request } from 'node:https'
import t, { type Test } from 'tap'
import { run, tempFolder } from '../cli/run.ts'
import { ask as askHttp2 } from '../http/h2/ask.ts'
import { startBoth } from '../setup/both.ts'
import { type Certificate, makeCertificate } from '../setup/certificates.ts'
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
async function send(url: string, certificate?: Certificate, headers: Headers = {}, method = 'GET') {
  const agent = new Agent({ maxCachedSessions: 0 })
  const sent = request(url, { ca: server.cert, agent, headers, method, ...certificate })
  sent.end()
  const [response] = await once(sent, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  agent.destroy()
  const text = Buffer.concat(chunks).toString()
  return response.statusCode === 200 ? '200' : `${response.statusCode} ${JSON.parse(text).code}`
}

t.test('a certificate that an account was given stands for a key', async (t) => {
  const { backend, gateway, user, bind } = await start(t)
  t.equal(await send(`${gateway.url}/key`, mine), '401 certificate-unknown')
  await bind()
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
  t.equal(await send(`${gateway.url}/key`, mine, {}, 'POST'), '200')
})

t.test('without the word certificate in keys.accept no certificate counts', async (t) => {
  const { gateway, bind } = await start(t, ['SecretKey'])
  await bind()
  t.equal(await send(`${gateway.url}/key`, mine), '401 credentials-missing')
})
