import t, { type Test } from 'tap'
import { isOidcPath, isPasskeyPath, pageAccess } from '#portal/page-access.ts'
import { ask } from '../gateway/support/ask.ts'
import { startGateway } from '../setup/gateway.ts'
import { run } from './run.ts'

const gateway = await startGateway(t, { config: { routes: [] } })
const admin = await gateway.createAccount({ role: 'Admin' })
const user = await gateway.createAccount()
const token = (await gateway.tokens(admin)).JwtToken

const key = ({ secretKey }: { readonly secretKey: string }) => `SecretKey: ${secretKey}`
const html = 'Accept: text/html,*/*'

interface Explained {
  readonly decision: string
  readonly status: number
  readonly code?: string
  readonly route: string
  readonly steps: readonly { readonly step: string; readonly outcome: string; readonly detail: string }[]
}

async function explain(t: Test, line: string, headers: readonly string[]): Promise<Explained> {
  const [method = '', path = ''] = line.split(' ')
  const flags = headers.flatMap((header) => ['-H', header])
  const asked = [method, gateway.url + path, ...flags, '--config', gateway.configFile, '--json']
  return (await run(t, ['explain', ...asked])).json() as Explained
}

/** Explains a request, and sends it to the gateway. @returns the explanation as text */
async function explainTruly(t: Test, line: string, headers: readonly string[] = []): Promise<string> {
  const { decision, status, code, route, steps } = await explain(t, line, headers)
  const answer = await ask(t, gateway.url, line, headers)
  t.equal(route, '_gateway')
  if (decision === 'answer') t.ok(answer.status < 400, `${line} ${headers.join()}: ${answer.status}`)
  else {
    t.equal(answer.status, status, `${line} ${headers.join()}`)
    if (!line.startsWith('HEAD')) t.equal(JSON.parse(answer.body).code, code)
  }
  const words = [decision, code, steps.at(-1)?.step]
  return words.filter((word) => word !== undefined).join(' ')
}

const accounts = '/api/v1/admin/accounts'

t.test('explain admits Admins to the admin API by either scheme', async (t) => {
  for (const [line, headers, expected] of [
    [`GET ${accounts}`, [], 'refuse credentials-missing scheme'],
    [`HEAD ${accounts}`, [], 'refuse credentials-missing scheme'],
    [`POST ${accounts}`, [], 'refuse credentials-missing scheme'],
    [`GET ${accounts}`, ['SecretKey: gsk_x'], 'refuse secret-key-invalid principal'],
    [`GET ${accounts}`, ['Authorization: Bearer x'], 'refuse token-invalid principal'],
    [
      `GET ${accounts}`,
      [key(admin), `Authorization: Bearer ${token}`],
      'refuse credentials-ambiguous scheme',
    ],
    [`GET ${accounts}`, [key(user)], 'refuse role-forbidden policy'],
    [`DELETE ${accounts}/${user.account.id}`, [key(user)], 'refuse role-forbidden policy'],
    [`GET ${accounts}`, [key(admin)], 'answer policy'],
    [`GET ${accounts}/${user.account.id}`, [`Authorization: Bearer ${token}`], 'answer policy'],
    ['GET /api/v1/admin/audit?limit=1', [key(admin)], 'answer policy'],
  ] as const) {
    t.equal(await explainTruly(t, line, headers), expected, `${line} ${headers.length}`)
  }
})

t.test('explain knows who may follow revocations, and whether there is such a stream', async (t) => {
  const path = '/api/v1/revocations?nonce=1'
  for (const [headers, expected] of [
    [[], 'refuse credentials-missing scheme'],
    [[key(user)], 'refuse role-forbidden policy'],
    [[key(admin)], 'refuse route-not-found destination'],
  ] as const)
    t.equal(await explainTruly(t, `GET ${path}`, headers), expected)
  const other = await startGateway(t, {
    config: { routes: [], tokens: { revocationFeed: { enabled: true }, introspection: { roles: ['User'] } } },
  })
  const { secretKey } = await other.createAccount()
  const asked = ['GET', other.url + path, '-H', key({ secretKey }), '--config', other.configFile, '--json']
  const { decision } = (await run(t, ['explain', ...asked])).json() as Explained
  t.equal(decision, 'answer')
})

t.test('explain refuses a wrong method on a path of the gateway for every caller', async (t) => {
  for (const line of [
    `PUT ${accounts}`,
    `POST ${accounts}/${user.account.id}`,
    'DELETE /api/v1/admin/audit',
    'PUT /portal',
    'PATCH /portal/sign-in',
    'TRACE /portal/profile',
    'GET /portal/sign-out',
    'POST /.well-known/jwks.json',
    'DELETE /api/v1/openapi.json',
  ]) {
    t.equal(await explainTruly(t, line, [key(admin)]), 'refuse method-not-allowed route', line)
  }
})

t.test('explain decides every portal page as the gateway does', async (t) => {
  const kinds = new Set<string>()
  for (const { path, audience, methods } of pageAccess.filter((page) => !isOidcPath(page.path))) {
    const at = `/portal${path.replace(':id', user.account.id)}`
    const kind = `${audience} ${methods}`
    const isFirst = !kinds.has(kind)
    kinds.add(kind)
    for (const method of isFirst ? ['GET', 'POST', 'PUT'] : ['GET', 'POST']) {
      const isTaken = methods.includes(method)
      if (method === 'POST' && isTaken && audience === 'anyone') continue
      const actual = await explainTruly(t, `${method} ${at}`)
      const expected = audience === 'anyone' ? 'answer route' : 'refuse credentials-missing route'
      t.equal(actual, isTaken ? expected : 'refuse method-not-allowed route', `${method} ${at}`)
    }
    if (!isFirst) continue
    t.equal(await explainTruly(t, `GET ${at}`, [html]), 'answer route', 'a person is led on')
    if (methods.includes('HEAD')) await explainTruly(t, `HEAD ${at}`)
  }
})

t.test('explain says that the root of the portal leads on', async (t) => {
  for (const line of ['GET /portal', 'GET /portal/', 'HEAD /portal']) {
    const { steps } = await explain(t, line, [])
    t.match(steps.at(-1)?.detail, /: redirects to the first page, or without a session to sign-in$/, line)
    const answer = await ask(t, gateway.url, line, [])
    t.match(
      { status: answer.status, location: answer.headers.location },
      { status: 303, location: /sign-in$/ },
    )
  }
})

t.test('explain knows the pages for passkeys where the portal has them', async (t) => {
  const pages = pageAccess.map(({ path }) => path).filter(isPasskeyPath)
  t.equal(pages.length, 8)
  const passwords = { issuer: 'http://127.0.0.1:1', clientId: 'gatehouse', passwords: false }
  const configs = {
    'a name': [{ publicUrl: 'http://localhost:8080' }, 'answer'],
    'an address': [{ publicUrl: 'http://127.0.0.1:8080' }, 'route-not-found'],
    'no passwords': [{ publicUrl: 'http://localhost:8080', portal: { oidc: passwords } }, 'route-not-found'],
  } as const
  for (const [name, [config, expected]] of Object.entries(configs)) {
    const { configFile, url } = await startGateway(t, { config: { routes: [], ...config } })
    for (const path of ['/sign-in/passkey', '/sign-in/passkey/options']) {
      const { status } = await fetch(`${url}/portal${path}`)
      t.equal(status, expected === 'answer' ? 405 : 404, `${name}: ${path}`)
    }
    const explained = await run(t, [
      'explain',
      'POST',
      `${url}/portal/sign-in/passkey`,
      '--config',
      configFile,
      '--json',
    ])
    const { decision, code } = explained.json() as Explained
    t.equal(code ?? decision, expected, name)
  }
})

t.test('explain knows the pages of a sign-in by OpenID Connect where the config has one', async (t) => {
  const pages = pageAccess.map(({ path }) => path).filter(isOidcPath)
  t.equal(pages.length, 5)
  for (const path of pages)
    t.equal(await explainTruly(t, `GET /portal${path}`), 'refuse route-not-found route', path)
  const oidc = { issuer: 'http://127.0.0.1:1', clientId: 'gatehouse' }
  const { configFile, url } = await startGateway(t, { config: { routes: [], portal: { oidc } } })
  const explainThere = async (line: string) => {
    const [method = '', path = ''] = line.split(' ')
    const { decision, code } = (
      await run(t, ['explain', method, url + path, '--config', configFile, '--json'])
    ).json() as Explained
    return code ?? decision
  }
  t.equal(await explainThere('GET /portal/sign-in/oidc'), 'answer')
  t.equal(await explainThere('GET /portal/sign-in/oidc/callback?code=x'), 'answer')
  t.equal(await explainThere('POST /portal/sign-in/oidc/callback'), 'method-not-allowed')
  t.equal(await explainThere('GET /portal/confirm'), 'credentials-missing')
})

t.test('explain of a missing portal page is 404, of a cross-site form a refusal', async (t) => {
  for (const path of ['/nowhere', '/accounts/a/b', '/assets/x.css', '/sign-in/', '/assets/']) {
    for (const method of ['GET', 'PUT']) {
      t.equal(await explainTruly(t, `${method} /portal${path}`), 'refuse route-not-found route', path)
    }
  }
  t.equal(await explainTruly(t, 'GET /.well-known/change-password'), 'answer route')
  t.equal(await explainTruly(t, 'POST /.well-known/change-password'), 'refuse method-not-allowed route')
  t.equal(await explainTruly(t, 'GET /portal/accounts/'), 'refuse credentials-missing route', 'an empty ID')
  const foreign = ['Origin: https://evil.example']
  t.equal(await explainTruly(t, 'POST /portal/sign-in', foreign), 'refuse cross-site-request route')
  const page = await ask(t, gateway.url, 'GET /portal/sign-in', [html])
  const style = /\/portal\/assets\/[\w-]+\.css/.exec(page.body)?.[0] ?? ''
  t.equal(await explainTruly(t, `GET ${style}`), 'answer route')
  t.equal(await explainTruly(t, `POST ${style}`), 'refuse method-not-allowed route')
  t.equal(await explainTruly(t, `GET ${style}?v=1`), 'refuse route-not-found route')
})

t.test("explain: a portal cookie's session is not looked up, and it says so", async (t) => {
  const { decision, steps } = await explain(t, 'GET /portal/accounts', ['Cookie: a=b; gatehouse-portal=x'])
  t.equal(decision, 'answer')
  t.match(steps.at(-1)?.detail, /the session cookie decides; it is not checked here/)
  for (const cookies of ['a=b; gatehouse-portal=', 'gatehouse-portal=x; gatehouse-portal=y'])
    t.match(await explain(t, 'GET /portal/accounts', [`Cookie: ${cookies}`]), {
      decision: 'refuse',
      status: 401,
      code: 'credentials-missing',
    })
})
