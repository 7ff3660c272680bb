import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { createCommandFolder } from '../cli/command-folder.ts'
import { tempFolder } from '../cli/run.ts'
import { newIssuerKey, startIssuer } from '../identity/issuers/issuer-server.ts'
import { type Backend, startBackend, startServer } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { freePort, until } from '../setup/net.ts'
import { writeNginxConfig } from '../setup/nginx.ts'
import { runProgram, startProgram } from './programs.ts'
import { snippetsOf } from './snippets.ts'

// needs: nginx

type Fields = Readonly<Record<string, string>>

const snippets = snippetsOf('docs/migrating.md')

/** The blocks of a section: what people have, what they write here, and what they run. */
function blocksOf(heading: string): readonly string[] {
  return snippets.filter((snippet) => snippet.heading === heading).map(({ text }) => text)
}

/** The gateway of a section, in front of backends of this test. */
async function start(t: Test, heading: string, moved: Fields = {}) {
  const app = await startBackend(t)
  const reports = await startBackend(t)
  const places: Fields = {
    'http://127.0.0.1:3000': app.url,
    'http://app:3000': app.url,
    'http://127.0.0.1:3001': reports.url,
    ...moved,
  }
  const move = (text: string) =>
    Object.entries(places).reduce((all, [from, to]) => all.replaceAll(from, to), text)
  const [before = '', after = '', commands = ''] = blocksOf(heading)
  // The cast is sound: the test of the configs has checked it.
  const { listen: _, store: __, ...config } = parse(move(after)) as Record<string, object>
  const gateway = await startGateway(t, {
    config: { ...config, keys: { ...config.keys, sealingKey: { file: 'sealing.key' } } },
  })
  const { accept: [carrier = ''] = ['SecretKey'] } = (config.keys ?? {}) as { accept?: string[] }
  const { account, secretKey } = await gateway.createAccount()
  return {
    gateway,
    app,
    reports,
    before: move(before),
    commands,
    account,
    /** The credential of that account. */
    key: { [carrier]: secretKey },
    ask: (path: string, fields: Fields = {}, method = 'GET') => ask(gateway.url, path, fields, method),
  }
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** Fields by which a client says that it is somebody else. */
function fieldsNamed(...names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, 'claimed']))
}

/** As `fetch`, which cannot set Host. */
function ask(url: string, path: string, headers: Fields, method: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { path, headers, method }, (response) => {
      response
        .resume()
        .on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }))
    })
    asked.on('error', reject).end()
  })
}

t.test('nginx with auth_request does as the config that replaces it', async (t) => {
  const validate = await startServer(t, (request, response) => {
    if (request.headers['x-api-key'] === 'known to nginx') response.setHeader('X-User', 'somebody')
    else response.statusCode = 401
    response.end()
  })
  const port = await freePort()
  const { gateway, app, reports, before, key, account } = await start(t, 'nginx with auth_request', {
    'http://127.0.0.1:4000': validate,
    '127.0.0.1:8080': `127.0.0.1:${port}`,
  })
  const folder = tempFolder(t)
  startProgram(t, ['nginx', ...writeNginxConfig(folder, before)], { cwd: folder })
  const nginx = `http://127.0.0.1:${port}`
  await until('nginx answers', () => ask(nginx, '/', {}, 'GET').catch(() => undefined))
  const key1 = { 'X-Api-Key': 'known to nginx' }
  for (const path of [
    '/',
    '/a/b?c=d',
    '/reports/x?y=1',
    '/static/logo.svg',
    '/internal/metrics',
    '/%C3%BC',
  ]) {
    for (const [theirs, ours] of [
      [{}, {}],
      [key1, key],
    ]) {
      const did = await outcomeOf(nginx, path, theirs ?? {}, [app, reports])
      const does = await outcomeOf(gateway.url, path, ours ?? {}, [app, reports])
      const user = did.user === 'somebody' ? account.id : did.user
      t.strictSame(does, { ...did, user }, `${path} ${JSON.stringify(does)}`)
    }
  }
})

/** What a proxy answers, and what reaches a backend. */
async function outcomeOf(url: string, path: string, fields: Fields, backends: readonly Backend[]) {
  const before = backends.map(({ seen }) => seen.length)
  const { status, headers } = await ask(url, path, fields, 'GET')
  const got = backends.find(({ seen }, index) => seen.length > (before[index] ?? 0))?.last()
  return {
    status,
    hsts: headers['strict-transport-security'],
    path: got?.url,
    user: got?.headers['x-user'] || undefined,
  }
}

t.test('Kong: roles, methods, prefixes and limits, and the key of Kong works on', async (t) => {
  const { gateway, app, reports, commands, key, ask } = await start(t, 'Kong with a declarative config')
  const folder = createCommandFolder(t, {})
  const env = { PATH: `${folder}/bin:${process.env.PATH}`, GATEHOUSE_CONFIG: gateway.configFile }
  await runProgram(['sh', '-ec', commands], { cwd: folder, env })
  const ada = { apikey: 'k3y-0f-4da-from-kong' }
  t.match(await ask('/orders/7', ada), { status: 200 })
  t.match(app.last(), { url: '/orders/7', headers: { 'x-consumer-groups': 'ops', apikey: undefined } })
  t.match(await ask('/orders/7', key), { status: 403 }, 'somebody of another group')
  t.match(await ask('/orders/7', ada, 'DELETE'), { status: 405 })
  t.match(await ask('/orders/7'), { status: 401 })
  t.match(await ask('/reports/2026', ada), { status: 200 })
  t.match(reports.last(), { url: '/v2/2026', headers: { 'x-source': 'gateway' } })
  const claimed = fieldsNamed(
    'X-Consumer-Id',
    'X-Consumer-Username',
    'X-Consumer-Custom-ID',
    'X-Consumer-Groups',
    'X-Credential-Identifier',
    'X-Anonymous-Consumer',
    'X-Authenticated-Userid',
    'X-Authenticated-Scope',
  )
  for (const [path, backend] of [
    ['/orders', app],
    ['/reports', reports],
  ] as const) {
    await ask(path, { ...claimed, ...ada })
    t.notOk(Object.values(backend.last().headers).includes('claimed'), `what a client claims at ${path}`)
  }
  const statuses = new Set<number>()
  for (let count = 0; count < 61; count++) statuses.add((await ask('/orders', ada)).status)
  t.ok(statuses.has(429), 'the limit of a minute')
})

t.test('Traefik: prefixes, a public path, HSTS, and the same target again', async (t) => {
  const { app, account, key, ask } = await start(t, 'Traefik with forwardAuth labels')
  const Host = 'app.example.com'
  t.match(await ask('/healthz', { Host }), { status: 200 })
  t.match(await ask('/page', { Host }), { status: 401 })
  t.match(await ask('/page', { Host: 'other.example.com', ...key }), { status: 404 })
  const { status, headers } = await ask('/page', { Host, ...key })
  t.equal(status, 200)
  t.equal(headers['strict-transport-security'], 'max-age=31536000')
  t.ok(headers['set-cookie']?.[0], 'a cookie names the target')
  t.match(await ask('/api/users', { Host, ...key }), { status: 200 })
  t.match(app.last(), { url: '/users', headers: { 'x-auth-user': account.id } })
})

t.test('oauth2-proxy: visits sign in, some paths are public, tokens of the issuer pass', async (t) => {
  const key = await newIssuerKey('k1')
  const issuer = await startIssuer(t, [key])
  const secrets = tempFolder(t)
  writeFileSync(join(secrets, 'oidc'), 'client-secret')
  const { app, ask } = await start(t, 'oauth2-proxy', {
    'https://id.example.com': issuer.url,
    '/run/secrets/oidc': join(secrets, 'oidc'),
    'portal:': 'trustedProxies: [127.0.0.1]\nportal:',
  })
  const visit = { Accept: 'text/html', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' }
  t.match(await ask('/page', visit), { status: 303, headers: { location: /\/portal\// } })
  t.match(await ask('/static/logo.svg'), { status: 200 })
  t.match(await ask('/healthz'), { status: 200 })
  t.match(await ask('/healthz', {}, 'POST'), { status: 405 })
  const token = await issuer.sign({ aud: 'gatehouse', email: 'ada@example.com' })
  t.match(await ask('/page', { Authorization: `Bearer ${token}` }), { status: 200 })
  t.match(app.last().headers, { 'x-forwarded-email': 'ada@example.com', authorization: undefined })
  const claimed = fieldsNamed(
    'X-Forwarded-User',
    'X-Forwarded-Email',
    'X-Forwarded-Groups',
    'X-Forwarded-Preferred-Username',
    'X-Forwarded-Access-Token',
  )
  await ask('/page', { ...claimed, Authorization: `Bearer ${token}` })
  t.notOk(Object.values(app.last().headers).includes('claimed'), 'what a client claims, though it is trusted')
})

t.test('express-gateway: the key in its field, and the name of the consumer', async (t) => {
  const { app, account, key, ask } = await start(t, 'express-gateway')
  t.match(await ask('/orders/7', key), { status: 200 })
  t.match(app.last(), { url: '/orders/7', headers: { 'eg-consumer-id': account.id } })
  t.match(await ask('/orders/7'), { status: 401 })
  t.match(await ask('/other'), { status: 404 })
})
