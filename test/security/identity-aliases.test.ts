import t, { type Test } from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { openWebSocket, startWebSocketBackend } from '../gateway/support/web-socket.ts'
import { startBoth } from '../setup/both.ts'
import { defaultIdentityHeaders } from '../setup/default-identity-headers.ts'
import { notInApp, startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'

const configured = { id: 'Remote-User', role: 'X-Auth.Role', email: 'X_Mail' }

/** What some server or framework reads as the same variable. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** Other ways to write a header name, down to those that no sane client sends. */
function aliasesOf(name: string): string[] {
  const words = name.split(/[^A-Za-z0-9]/)
  const joined = [
    '-',
    '_',
    '.',
    '',
    '--',
    '__',
    '-_',
    '!',
    '#',
    '$',
    '%',
    '&',
    "'",
    '*',
    '+',
    '^',
    '`',
    '|',
    '~',
  ]
  return [
    ...joined.map((sign) => words.join(sign)),
    name.toUpperCase(),
    name.toLowerCase(),
    `${name}-`,
    `${name}_`,
    `-${name}`,
    `_${name}`,
    `.${name}.`,
    [...plain(name)].join('_'),
  ]
}

/** The lines of a head that say who the caller is, whatever way they are written. */
function identityLines(rawHeaders: readonly string[], names: readonly string[]): string[] {
  const known = new Set(names.map(plain))
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && known.has(plain(name)) ? [`${name}: ${rawHeaders[index + 1]}`] : [],
  )
}

async function start(t: Test, config: Readonly<Record<string, unknown>>) {
  const { backend, gateway } = await startBoth(t, { config })
  const { account, secretKey } = await gateway.createAccount()
  return { backend, gateway, id: account.id, secretKey, email: account.email }
}

t.test('no spelling of an identity header passes on any kind of route', async (t) => {
  const { backend, gateway, id, secretKey } = await start(t, {})
  const ours = [`X-User-Id: ${id}`, 'X-User-Role: User']
  for (const name of defaultIdentityHeaders) {
    for (const alias of aliasesOf(name)) {
      for (const [path, headers, expected] of [
        ['/public', [], []],
        ['/optional', [], []],
        ['/optional', [`SecretKey: ${secretKey}`], ours],
        ['/key', [`SecretKey: ${secretKey}`], ours],
      ] as const) {
        const response = await ask(t, gateway.url, `GET ${path}`, [
          `${alias}: Admin`,
          ...headers,
          `${alias}: root`,
        ])
        t.equal(response.status, 200)
        t.strictSame(
          identityLines(backend.last().rawHeaders, defaultIdentityHeaders),
          expected,
          `${alias} on ${path}`,
        )
      }
    }
  }
})

t.test('configured identity header names are guarded like the default ones', async (t) => {
  const { backend, gateway, id, secretKey, email } = await start(t, { identity: { headers: configured } })
  const names = [...defaultIdentityHeaders, ...Object.values(configured)]
  for (const name of names) {
    for (const alias of aliasesOf(name)) {
      await ask(t, gateway.url, 'GET /public', [`${alias}: root`])
      t.strictSame(identityLines(backend.last().rawHeaders, names), [], alias)
      await ask(t, gateway.url, 'GET /key', [`${alias}: root`, `SecretKey: ${secretKey}`, `${alias}: root`])
      t.strictSame(
        identityLines(backend.last().rawHeaders, names),
        [`Remote-User: ${id}`, 'X-Auth.Role: User', `X_Mail: ${email}`],
        alias,
      )
    }
  }
})

const noTrailers = { skip: notInApp('http-proxy forwards no trailers') }
t.test('no trailer carries an identity, even where the route passes trailers', noTrailers, async (t) => {
  const route = { name: 'key', path: '/key', upstream: 'backend', auth: 'secretKey', trailers: 'pass' }
  const { backend, gateway, secretKey } = await start(t, { routes: [route] })
  for (const name of defaultIdentityHeaders) {
    const trailers = aliasesOf(name).map((alias) => `${alias}: root`)
    const lines = ['Transfer-Encoding: chunked', 'TE: trailers', '', '1', 'x', '0', ...trailers, 'X-Sum: 1']
    const response = await ask(t, gateway.url, 'POST /key', [`SecretKey: ${secretKey}`, ...lines])
    t.equal(response.status, 200)
    t.strictSame({ ...backend.last().trailers }, { 'x-sum': '1' }, name)
  }
})

t.test("an upgrade carries only the gateway's identity headers", async (t) => {
  const backend = await startWebSocketBackend(t)
  const route = { upstream: 'backend', websocket: true }
  const routes = [
    { ...route, name: 'ws', path: '/ws', auth: 'secretKey' },
    { ...route, name: 'open', path: '/open', auth: 'none' },
  ]
  const gateway = await startGateway(t, { backend: backend.url, config: { routes } })
  const { account, secretKey } = await gateway.createAccount()
  const forged = Object.fromEntries(defaultIdentityHeaders.flatMap(aliasesOf).map((alias) => [alias, 'root']))
  for (const [path, credential, expected] of [
    ['/open', {}, []],
    ['/ws', { SecretKey: secretKey }, [`X-User-Id: ${account.id}`, 'X-User-Role: User']],
  ] as const) {
    const taken = backend.upgrades.length
    await openWebSocket(t, gateway.url + path, { headers: { ...forged, ...credential } })
    // http-proxy takes the client's upgrade before the backend does.
    await until('the upgrade at the backend', () => backend.upgrades.length > taken)
    t.strictSame(identityLines(backend.upgrades.at(-1)?.rawHeaders ?? [], defaultIdentityHeaders), expected)
  }
})

t.test('an invalid identity header name is refused', async (t) => {
  const { backend, gateway } = await start(t, {})
  for (const line of [
    'X-User-Id : root',
    'X-User-Id\t: root',
    ' X-User-Id: root',
    'X-User-Id\x00: root',
    'X-Us\xe9r-Id: x',
    ': x',
  ])
    t.equal((await ask(t, gateway.url, 'GET /public', ['A: b', line])).status, 400, JSON.stringify(line))
  t.equal(backend.seen.length, 0)
})
