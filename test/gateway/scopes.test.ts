import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { ask } from './support/ask.ts'
import { addKey } from './support/further-keys.ts'
import { assertProblem } from './support/problem.ts'

const identity = {
  headers: { key: 'X-User-Key', scopes: 'X-User-Scopes', plan: 'X-User-Plan', scheme: 'X-User-Scheme' },
  assertion: { enabled: true },
}

interface TestRoute {
  readonly name: string
  readonly path: string
  readonly auth: string
  readonly scopes?: readonly string[]
}

const routes: readonly TestRoute[] = [
  { name: 'none', path: '/none', auth: 'none' },
  { name: 'optional', path: '/optional', auth: 'optional' },
  ...['secretKey', 'bearer', 'any'].flatMap((auth) => [
    { name: auth, path: `/${auth}`, auth },
    { name: `${auth}-read`, path: `/${auth}/read`, auth, scopes: ['orders:read'] },
    { name: `${auth}-both`, path: `/${auth}/both`, auth, scopes: ['orders:read', 'a%b'] },
  ]),
].map((route) => ({ ...route, upstream: 'backend' }))

interface Caller {
  /** Of the key. */
  readonly name: string
  readonly scopes: readonly string[]
  readonly scheme: string
  readonly line: string
}

/** A gateway, and each credential by what it is and what it is limited to. */
async function start(t: Test) {
  const { backend, gateway } = await startBoth(t, { config: { routes, identity } })
  const created = await gateway.createAccount()
  const { id } = created.account
  const held = { none: [], read: ['orders:read'], both: ['a%b', 'orders:read', 'Other'] } as const
  const callers: Caller[] = []
  for (const [what, scopes] of Object.entries(held)) {
    const name = what === 'none' ? 'default' : what
    const key = what === 'none' ? created.secretKey : await addKey(gateway, id, { name, scopes })
    const { JwtToken } = await gateway.tokens({ ...created, secretKey: key })
    callers.push(
      { name, scopes, scheme: 'secretKey', line: `SecretKey: ${key}` },
      { name, scopes, scheme: 'bearer', line: `Authorization: Bearer ${JwtToken}` },
    )
  }
  return { backend, gateway, callers }
}

function claimsOf(jwt: unknown) {
  return JSON.parse(Buffer.from(String(jwt).split('.')[1] ?? '', 'base64url').toString())
}

/** What a client makes up, in more than one spelling. */
const forged = [
  'X-User-Key: root',
  'x_user.scopes: everything',
  'X-User-Scopes: everything',
  'X-User-Plan: gold',
  'X-User-Issuer: corp',
]

t.test('the backend gets key and scopes of each caller on each kind of route', async (t) => {
  const { backend, gateway, callers } = await start(t)
  for (const route of routes) {
    for (const caller of callers) {
      const what = `${caller.scheme} ${caller.name} on ${route.name}`
      const before = backend.seen.length
      const response = await ask(t, gateway.url, `GET ${route.path}`, [caller.line, ...forged])
      const refusal = refusalOf(route, caller)
      if (refusal) {
        assertProblem(t, response, refusal)
        t.equal(backend.seen.length, before, `${what} does not reach the backend`)
        continue
      }
      t.equal(response.status, 200, what)
      const { headers, rawHeaders } = backend.last()
      t.notMatch(rawHeaders.join('\n'), /everything|root|gold|corp/, what)
      t.strictSame(identityOf(headers), expectedIdentity(route, caller), what)
    }
  }
})

function refusalOf({ auth, scopes: needed }: TestRoute, { scheme, scopes }: Caller) {
  if (auth === 'none') return undefined
  if (auth !== scheme && auth !== 'any' && auth !== 'optional')
    return { status: 401, code: 'scheme-not-accepted' }
  const isWithin = scopes.length === 0 || needed?.every((each) => scopes.includes(each)) === true
  return isWithin ? undefined : { status: 403, code: 'scope-forbidden' }
}

function identityOf(headers: Readonly<Record<string, unknown>>) {
  const { 'x-gatehouse-assertion': assertion } = headers
  return {
    key: headers['x-user-key'],
    scheme: headers['x-user-scheme'],
    scopes: headers['x-user-scopes'],
    plan: headers['x-user-plan'],
    scope: assertion === undefined ? undefined : claimsOf(assertion).scope,
  }
}

function expectedIdentity({ auth }: TestRoute, { name, scheme, scopes }: Caller) {
  const none = { key: undefined, scheme: undefined, scopes: undefined, plan: undefined, scope: undefined }
  if (auth === 'none') return none
  if (scopes.length === 0) return { ...none, key: name, scheme }
  const encoded = scopes.map((each) => each.replace('%', '%25')).join('%20')
  return { ...none, key: name, scheme, scopes: encoded, scope: scopes.join(' ') }
}

t.test('a refusal for scopes names those of the route to a client with a token', async (t) => {
  const { gateway, callers } = await start(t)
  const token = callers.find(({ name, scheme }) => name === 'read' && scheme === 'bearer')?.line ?? ''
  const insufficient = 'Bearer realm="gatehouse", error="insufficient_scope", error_description='
  for (const [path, scope] of [
    ['/bearer/both', ', scope="orders:read a%b"'],
    ['/bearer', ''],
  ] as const) {
    const response = await ask(t, gateway.url, `GET ${path}`, [token])
    const challenge = response.headers['www-authenticate'] ?? ''
    t.ok(challenge.startsWith(insufficient), challenge)
    t.equal(challenge.slice(insufficient.length).replace(/^"[^"]+"/, ''), scope, path)
  }
  const either = await ask(t, gateway.url, 'GET /any/both', [token])
  t.match(
    either.headers['www-authenticate'],
    /^SecretKey realm="gatehouse"\nBearer .*scope="orders:read a%b"$/,
  )
})

t.test("a limited key or token opens none of the gateway's own endpoints", async (t) => {
  const { gateway } = await start(t)
  const admin = await gateway.createAccount({ role: 'Admin' })
  const key = await addKey(gateway, admin.account.id, { name: 'limited', scopes: ['orders:read'] })
  const { JwtToken } = await gateway.tokens({ ...admin, secretKey: key })
  for (const line of [`SecretKey: ${key}`, `Authorization: Bearer ${JwtToken}`]) {
    const response = await ask(t, gateway.url, 'GET /api/v1/admin/accounts', [line])
    assertProblem(t, response, { status: 403, code: 'scope-forbidden' })
  }
})
