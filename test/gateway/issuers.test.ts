import { readFileSync, writeFileSync } from 'node:fs'
import { decodeJwt } from 'jose'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { run } from '../cli/run.ts'
import { minimalConfig, problems } from '../config/config-fixtures.ts'
import { newIssuerKey, startIssuer } from '../identity/issuers/issuer-server.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { ask } from './support/ask.ts'
import { openWebSocket, startWebSocketBackend } from './support/web-socket.ts'

type Options = Readonly<Record<string, unknown>>

const route = (name: string, options: Options = {}) => ({
  name,
  path: `/${name}`,
  upstream: 'backend',
  auth: 'bearer',
  issuers: ['corp'],
  ...options,
})

const routes = [
  route('orders'),
  route('any', { auth: 'any' }),
  route('optional', { auth: 'optional' }),
  route('ours', { issuers: [] }),
  route('admin', { roles: ['Admin'] }),
  route('scoped', { scopes: ['orders:read'] }),
  route('verified', { verifiedOnly: true }),
]

async function start(t: Test, options: Options = {}, config: Options = {}) {
  const issuer = await startIssuer(t, [await newIssuerKey('one')])
  const { backend, gateway } = await startBoth(t, {
    config: {
      issuers: [
        {
          name: 'corp',
          issuer: issuer.url,
          audience: 'orders',
          algorithms: ['ES256'],
          role: { claim: 'groups', map: { ops: 'Admin', staff: 'Staff' } },
          scopes: 'scope',
          email: 'email',
          ...options,
        },
      ],
      routes,
      ...config,
    },
  })
  const codeOf = async (path: string, token: string) => {
    const { status, json } = await ask(t, gateway.url, `GET ${path}`, [`Authorization: Bearer ${token}`])
    return status === 200 ? '200' : `${status} ${(json() as { readonly code: string }).code}`
  }
  return { issuer, backend, gateway, codeOf }
}

t.test('a token of an issuer passes the routes that name it, and no other', async (t) => {
  const { issuer, gateway, backend, codeOf } = await start(t)
  const token = await issuer.sign()
  for (const path of ['/orders', '/any', '/optional', '/orders'])
    t.equal(await codeOf(path, token), '200', path)
  t.match(backend.last().headers, { 'x-user-id': 'corp:ada', 'x-user-role': 'User' })
  t.equal(backend.last().headers.authorization, undefined)
  t.equal(await codeOf('/ours', token), '401 token-invalid')
  t.equal(await codeOf('/api/v1/admin/accounts', token), '401 token-invalid')
  t.equal(await codeOf('/api/v1/accounts/usage', token), '401 token-invalid')
  const user = await gateway.createAccount()
  const { JwtToken } = await gateway.tokens(user)
  for (const path of ['/orders', '/any', '/ours', '/orders'])
    t.equal(await codeOf(path, JwtToken), '200', `ours on ${path}`)
})

t.test('a route takes tokens only of the issuers that it names', async (t) => {
  const [corp, other] = [
    await startIssuer(t, [await newIssuerKey('one')]),
    await startIssuer(t, [await newIssuerKey('one')]),
  ]
  const entry = (name: string, { url }: { readonly url: string }) => ({
    name,
    issuer: url,
    audience: 'orders',
  })
  const { codeOf } = await start(
    t,
    {},
    {
      issuers: [entry('corp', corp), entry('other', other)],
      routes: [
        route('orders'),
        route('other', { issuers: ['other'] }),
        route('both', { issuers: ['corp', 'other'] }),
      ],
    },
  )
  const [ofCorp, ofOther] = [await corp.sign(), await other.sign()]
  t.strictSame(await Promise.all(['/orders', '/other', '/both'].map((path) => codeOf(path, ofCorp))), [
    '200',
    '401 token-invalid',
    '200',
  ])
  t.strictSame(await Promise.all(['/orders', '/other', '/both'].map((path) => codeOf(path, ofOther))), [
    '401 token-invalid',
    '200',
    '200',
  ])
  t.equal(
    await codeOf('/both', await corp.sign({ iss: other.url })),
    '401 token-invalid',
    'the name of the other',
  )
})

t.test('the role of a token is only what the map makes of the claim', async (t) => {
  const { issuer, backend, codeOf } = await start(t)
  for (const [groups, role] of [
    [undefined, 'User'],
    ['ops', 'Admin'],
    [['staff', 'ops'], 'Admin'],
    [['staff'], 'Staff'],
    ['Admin', 'User'],
    [['Admin', 'OPS', 'ops '], 'User'],
    [{ ops: true }, 'User'],
    [7, 'User'],
    [[['ops']], 'User'],
  ] as const) {
    const token = await issuer.sign({ groups, role: 'Admin' })
    t.equal(await codeOf('/orders', token), '200')
    t.equal(backend.last().headers['x-user-role'], role, JSON.stringify(groups))
    t.equal(await codeOf('/admin', token), role === 'Admin' ? '200' : '403 role-forbidden')
  }
})

t.test('an Admin of an issuer is none of the admin API', async (t) => {
  const { issuer, codeOf } = await start(t)
  const token = await issuer.sign({ groups: 'ops' })
  t.equal(await codeOf('/admin', token), '200')
  t.equal(await codeOf('/api/v1/admin/accounts', token), '401 token-invalid')
})

t.test('roles may be in a member of a claim', async (t) => {
  const role = { claim: ['realm_access', 'roles'], map: { ops: 'Admin' } }
  const { issuer, codeOf } = await start(t, { role })
  t.equal(await codeOf('/admin', await issuer.sign({ realm_access: { roles: ['x', 'ops'] } })), '200')
  t.equal(await codeOf('/admin', await issuer.sign({ realm_access: 'ops' })), '403 role-forbidden')
  t.equal(await codeOf('/admin', await issuer.sign({ 'realm_access.roles': 'ops' })), '403 role-forbidden')
})

t.test(
  'a token with scopes passes only routes that name some, and needs them all; without it passes no such route',
  async (t) => {
    const { issuer, codeOf } = await start(t)
    for (const [scope, onScoped, onOthers] of [
      ['orders:read', '200', '403 scope-forbidden'],
      ['orders:write  orders:read', '200', '403 scope-forbidden'],
      [['orders:read'], '200', '403 scope-forbidden'],
      ['orders', '403 scope-forbidden', '403 scope-forbidden'],
      ['ORDERS:READ', '403 scope-forbidden', '403 scope-forbidden'],
      [undefined, '403 scope-forbidden', '200'],
      ['', '403 scope-forbidden', '200'],
      [[], '403 scope-forbidden', '200'],
      [7, '401 token-invalid', '401 token-invalid'],
      [['a b'], '401 token-invalid', '401 token-invalid'],
    ] as const) {
      const token = await issuer.sign({ scope })
      t.equal(await codeOf('/scoped', token), onScoped, JSON.stringify(scope))
      t.equal(await codeOf('/orders', token), onOthers, JSON.stringify(scope))
    }
  },
)

t.test('verifiedOnly needs email_verified to be true', async (t) => {
  const { issuer, codeOf } = await start(t)
  const email = 'ada@example.com'
  t.equal(await codeOf('/verified', await issuer.sign({ email, email_verified: true })), '200')
  for (const email_verified of [false, 'true', 1, undefined])
    t.equal(await codeOf('/verified', await issuer.sign({ email, email_verified })), '403 account-unverified')
})

const headers = {
  id: 'X-User-Id',
  role: 'X-User-Role',
  email: 'X-User-Email',
  verified: 'X-User-Verified',
  name: 'X-User-Name',
  session: 'X-User-Session',
  scheme: 'X-User-Scheme',
  key: 'X-User-Key',
  scopes: 'X-User-Scopes',
  plan: 'X-User-Plan',
  issuer: 'X-User-Issuer',
}

t.test(
  'the identity headers say who it is by which issuer, and nothing that the token does not say',
  async (t) => {
    const { issuer, backend, codeOf, gateway } = await start(t, {}, { identity: { headers } })
    const identity = () =>
      Object.fromEntries(
        Object.entries(backend.last().headers).filter(([name]) => name.startsWith('x-user-')),
      )
    await codeOf(
      '/scoped',
      await issuer.sign({ scope: 'orders:read b', email: 'a@b.c', email_verified: true }),
    )
    t.strictSame(identity(), {
      'x-user-id': 'corp:ada',
      'x-user-role': 'User',
      'x-user-email': 'a@b.c',
      'x-user-verified': 'true',
      'x-user-scheme': 'bearer',
      'x-user-scopes': 'orders:read%20b',
      'x-user-issuer': 'corp',
    })
    await codeOf('/orders', await issuer.sign({ email: 'not one' }))
    t.strictSame(identity(), {
      'x-user-id': 'corp:ada',
      'x-user-role': 'User',
      'x-user-verified': 'false',
      'x-user-scheme': 'bearer',
      'x-user-issuer': 'corp',
    })
    const { JwtToken } = await gateway.tokens(await gateway.createAccount())
    await codeOf('/orders', JwtToken)
    t.equal(backend.last().headers['x-user-issuer'], undefined, 'an account has no issuer')
  },
)

t.test('whatever the subject is, its ID is one header value that no other principal has', async (t) => {
  const { issuer, backend, codeOf, gateway } = await start(t)
  const user = await gateway.createAccount()
  for (const [sub, id] of [
    ['auth0|5f7c', 'corp:auth0|5f7c'],
    [user.account.id, `corp:${user.account.id}`],
    ['a:b', 'corp:a:b'],
    ['a b', 'corp:a%20b'],
    ['a%20b', 'corp:a%2520b'],
    ['Zoë', 'corp:Zo%C3%AB'],
    ['😀', 'corp:%F0%9F%98%80'],
    ['x'.repeat(254), `corp:${'x'.repeat(254)}`],
    ['x'.repeat(255), `corp:${'x'.repeat(255)}`],
  ] as const) {
    t.equal(await codeOf('/orders', await issuer.sign({ sub })), '200', sub)
    t.equal(backend.last().headers['x-user-id'], id)
  }
  for (const sub of [
    '',
    'x'.repeat(256),
    'x'.repeat(5_000),
    'a\r\nX-User-Role: Admin',
    'a\u0000',
    '\ud800',
    7,
    ['a'],
    null,
  ])
    t.equal(
      await codeOf('/orders', await issuer.sign({ sub: sub as string })),
      '401 token-invalid',
      JSON.stringify(sub),
    )
})

t.test('rate limits count principals of issuers one by one', async (t) => {
  const rateLimit = { limit: 2, per: '24h' }
  const { issuer, codeOf } = await start(t, {}, { routes: [route('orders', { rateLimit })] })
  const answers = async (sub: string) => {
    const token = await issuer.sign({ sub })
    return [await codeOf('/orders', token), await codeOf('/orders', token), await codeOf('/orders', token)]
  }
  t.strictSame(await answers('ada'), ['200', '200', '429 rate-limited'])
  t.strictSame(await answers('bob'), ['200', '200', '429 rate-limited'])
})

t.test('a log line names the principal, and why a token was refused, but never the token', async (t) => {
  const { issuer, gateway, codeOf } = await start(t)
  const right = await issuer.sign()
  const wrong = await issuer.sign({ aud: 'others' })
  const misspelt = await issuer.sign({ iss: `${issuer.url}/` })
  const foreign = await issuer.sign({ iss: 'https://other.example.com' }, { typ: 'JWT' })
  for (const token of [right, wrong, misspelt, foreign]) await codeOf('/orders', token)
  const lines = await until('all lines', () => {
    const found = gateway.logLines.filter((line) => line.includes('"route":"orders"'))
    return found.length === 4 ? found : undefined
  })
  t.match(lines[0], /"accountId":"corp:ada"/)
  t.match(lines[1], /"reason":"issuer corp: a claim is missing or wrong: aud"/)
  t.match(lines[2], /"reason":"issuer corp: iss ends with more slashes than in the config"/)
  t.match(lines[3], /"reason":"wrong iss"/)
  for (const token of [right, wrong, misspelt, foreign]) {
    const signature = token.split('.')[2] ?? ''
    t.notOk(gateway.logLines.some((line) => line.includes(signature)))
  }
})

t.test('explain says which issuer a token is of, and why one is refused', async (t) => {
  const { issuer, gateway } = await start(t)
  const explain = async (token: string) => {
    const args = [
      'explain',
      'GET',
      '/orders',
      '-H',
      `Authorization: Bearer ${token}`,
      '--config',
      gateway.configFile,
    ]
    return run(t, args)
  }
  const right = await explain(await issuer.sign())
  t.match(right.stdout, /by a token of the issuer corp: corp:ada/)
  const wrong = await explain(await issuer.sign({ aud: 'others' }))
  t.match(wrong.stdout, /refuse: 401 token-invalid/)
  t.match(wrong.stdout, /wrong: aud/)
  const misspelt = await explain(await issuer.sign({ iss: `${issuer.url}/` }))
  t.match(misspelt.stdout, /iss ends with more slashes than in the config/)
  const idToken = await explain(await issuer.sign({ nonce: 'x' }, { typ: 'JWT' }))
  t.match(idToken.stdout, /nonce: an ID token/)
})

t.test(
  'an ID token is refused, and with tokenType at+jwt all that do not say that they are none',
  async (t) => {
    const { issuer, codeOf } = await start(t)
    const authTime = { auth_time: 1, azp: 'web' }
    for (const claims of [{ nonce: 'x' }, authTime, { ...authTime, nonce: 'x' }])
      t.equal(await codeOf('/orders', await issuer.sign(claims, { typ: 'JWT' })), '401 token-invalid')
    t.equal(await codeOf('/orders', await issuer.sign({}, { typ: 'JWT' })), '200')
    const strict = await start(t, { tokenType: 'at+jwt' })
    t.equal(await strict.codeOf('/orders', await strict.issuer.sign({}, { typ: 'JWT' })), '401 token-invalid')
    t.equal(
      await strict.codeOf('/orders', await strict.issuer.sign({}, { typ: undefined })),
      '401 token-invalid',
    )
    t.equal(await strict.codeOf('/orders', await strict.issuer.sign()), '200')
  },
)

t.test('a reload takes other issuers, and drops those that are gone', async (t) => {
  const { issuer, gateway, codeOf } = await start(t)
  const token = await issuer.sign()
  t.equal(await codeOf('/orders', token), '200')
  const config = JSON.parse(readFileSync(gateway.configFile, 'utf8')) as Options
  const orders = [route('orders')]
  const reload = async (changes: Options) => {
    writeFileSync(gateway.configFile, JSON.stringify({ ...config, routes: orders, ...changes }))
    return (await fetch(`${gateway.opsUrl}/reload`, { method: 'POST' })).status
  }
  t.equal(await reload({ issuers: [{ name: 'corp', issuer: issuer.url, audience: 'others' }] }), 200)
  t.equal(await codeOf('/orders', token), '401 token-invalid')
  t.equal(await codeOf('/orders', await issuer.sign({ aud: 'others' })), '200')
  const corp = { name: 'corp', issuer: issuer.url, audience: ['others', 'orders'] }
  t.equal(await reload({ issuers: [corp] }), 200)
  t.equal(await codeOf('/orders', token), '200')
  t.equal(await reload({ issuers: [{ ...corp, require: { department: ['sales'] } }] }), 200)
  t.equal(await codeOf('/orders', token), '401 token-invalid')
  t.match(gateway.logLines.at(-1), 'a claim is missing or wrong: department (require)')
  t.equal(await codeOf('/orders', await issuer.sign({ department: 'sales' })), '200')
  t.equal(await reload({ issuers: [], routes: [route('orders', { issuers: [] })] }), 200)
  t.equal(await codeOf('/orders', token), '401 token-invalid')
})

t.test('an issuer without answers delays no other request, and its tokens get 503, never 401', async (t) => {
  const silent = await startIssuer(t, [await newIssuerKey('one')])
  silent.state.answer = () => {}
  const right = await startIssuer(t, [await newIssuerKey('one')])
  const entry = (name: string, issuer: string) => ({ name, issuer, audience: 'orders' })
  const { codeOf, gateway } = await start(
    t,
    {},
    {
      issuers: [entry('corp', right.url), entry('silent', silent.url)],
      routes: [route('orders', { issuers: ['corp', 'silent'] })],
    },
  )
  const token = await right.sign()
  t.equal(await codeOf('/orders', token), '200')
  const waiting = Array.from({ length: 20 }, async () => codeOf('/orders', await silent.sign()))
  const startedAt = performance.now()
  const { JwtToken } = await gateway.tokens(await gateway.createAccount())
  for (const other of [token, JwtToken, await right.sign({ sub: 'bob' })])
    t.equal(await codeOf('/orders', other), '200')
  t.ok(performance.now() - startedAt < 900, 'while the others wait')
  t.strictSame(new Set(await Promise.all(waiting)), new Set(['503 issuer-unavailable']))
  const metrics = await (await fetch(`${gateway.opsUrl}/metrics`)).text()
  t.match(metrics, 'gatehouse_issuer_up{issuer="corp"} 1')
  t.match(metrics, 'gatehouse_issuer_up{issuer="silent"} 0')
  t.match(metrics, 'gatehouse_issuer_keys{issuer="silent"} 0')
})

t.test('known keys outlive an outage of the issuer; a key that is not known then is a 503', async (t) => {
  const { issuer, codeOf } = await start(t)
  t.equal(await codeOf('/orders', await issuer.sign()), '200')
  issuer.state.answer = (_, response) => response.destroy()
  t.equal(await codeOf('/orders', await issuer.sign({ sub: 'bob' })), '200')
  t.equal(
    await codeOf('/orders', await issuer.sign({}, {}, await newIssuerKey('two'))),
    '503 issuer-unavailable',
  )
})

t.test('200 tokens with unknown keys a second cost the issuer one request', async (t) => {
  const { issuer, codeOf } = await start(t, { jwks: undefined })
  t.equal(await codeOf('/orders', await issuer.sign()), '200')
  const before = issuer.seen.length
  const tokens = await Promise.all(
    Array.from({ length: 200 }, (_, index) => issuer.sign({}, { kid: `unknown-${index}` })),
  )
  const codes = await Promise.all(tokens.map((token) => codeOf('/orders', token)))
  t.strictSame(new Set(codes), new Set(['401 token-invalid']))
  t.equal(issuer.seen.length - before, 2, 'discovery and keys, once')
})

t.test('a WebSocket is open to a token of an issuer until the issuer is gone from the config', async (t) => {
  const backend = await startWebSocketBackend(t)
  const issuer = await startIssuer(t, [await newIssuerKey('one')])
  const gateway = await startGateway(t, {
    backend: backend.url,
    config: {
      issuers: [{ name: 'corp', issuer: issuer.url, audience: 'orders' }],
      routes: [route('ws', { websocket: true })],
    },
  })
  const headers = { Authorization: `Bearer ${await issuer.sign()}` }
  const socket = await openWebSocket(t, `${gateway.url}/ws`, { headers })
  t.equal(backend.upgrades.at(-1)?.headers['x-user-id'], 'corp:ada')
  const echo = new Promise((resolve) => socket.on('message', (data) => resolve(String(data))))
  socket.send('still open')
  t.equal(await echo, 'still open')
  const closed = new Promise((resolve) => socket.on('close', (code) => resolve(code)))
  const config = JSON.parse(readFileSync(gateway.configFile, 'utf8')) as Options
  const routes = [route('ws', { websocket: true, issuers: [] })]
  writeFileSync(gateway.configFile, JSON.stringify({ ...config, issuers: [], routes }))
  t.equal((await fetch(`${gateway.opsUrl}/reload`, { method: 'POST' })).status, 200)
  t.equal(await closed, 4001)
})

t.test('the decide listener and assertions know principals of issuers', async (t) => {
  const { issuer, gateway, backend, codeOf } = await start(
    t,
    {},
    {
      decide: { port: 0 },
      trustedProxies: ['127.0.0.1'],
      identity: { headers: { issuer: 'X-User-Issuer' }, assertion: { enabled: true } },
    },
  )
  const ask = (token: string) =>
    fetch(`${gateway.decideUrl}/decide`, {
      headers: {
        Authorization: `Bearer ${token}`,
        'X-Forwarded-Method': 'GET',
        'X-Forwarded-Proto': 'http',
        'X-Forwarded-Host': 'gateway.test',
        'X-Forwarded-Uri': '/orders',
      },
    })
  const token = await issuer.sign()
  const { status, headers } = await ask(token)
  t.strictSame([status, headers.get('x-user-id'), headers.get('x-user-issuer')], [200, 'corp:ada', 'corp'])
  const encoded = await issuer.sign({ sub: 'ädä|50%' })
  await codeOf('/orders', encoded)
  t.equal(backend.last().headers['x-user-id'], 'corp:%C3%A4d%C3%A4|50%25')
  t.equal((await ask(encoded)).headers.get('x-user-id'), backend.last().headers['x-user-id'])
  await codeOf('/orders', token)
  const assertion = String(backend.last().headers['x-gatehouse-assertion'])
  t.match(decodeJwt(assertion), { sub: 'corp:ada', issuer: 'corp', role: 'User', scheme: 'bearer' })
})

t.test('the plan of an issuer limits each of its users', async (t) => {
  const { issuer, gateway, backend, codeOf } = await start(
    t,
    { plan: 'small' },
    {
      plans: { small: { quota: { limit: 3, per: 'month' } } },
      identity: { headers: { plan: 'X-User-Plan' } },
    },
  )
  const [ada, bob] = [await issuer.sign(), await issuer.sign({ sub: 'bob' })]
  const codes: string[] = []
  for (const token of [ada, ada, await issuer.sign({ n: 2 }), ada]) codes.push(await codeOf('/orders', token))
  t.strictSame(codes, ['200', '200', '200', '429 quota-exceeded'], 'of all tokens of a user together')
  t.equal(await codeOf('/orders', bob), '200')
  t.equal(backend.last().headers['x-user-plan'], 'small')
  const { secretKey } = await gateway.createAccount()
  for (let count = 0; count < 5; count++)
    t.equal((await ask(t, gateway.url, 'GET /any', [`SecretKey: ${secretKey}`])).status, 200)
  t.strictSame(
    problems(t, {
      ...minimalConfig,
      plans: { small: { quota: { limit: 3, per: 'month' } } },
      issuers: [{ name: 'corp', issuer: 'https://id.example.com', audience: 'orders', plan: 'smal' }],
    }).map((problem) => problem.replace(/^.*?issuers/, 'issuers')),
    ['issuers[0].plan: unknown plan "smal", did you mean "small"?'],
  )
})

t.test('what users of an issuer use is counted as that of accounts', async (t) => {
  const { issuer, gateway, codeOf } = await start(
    t,
    { plan: 'small' },
    { plans: { small: { quota: { limit: 100, per: 'month' } } } },
  )
  for (const sub of ['ada', 'ada', 'ä b']) t.equal(await codeOf('/orders', await issuer.sign({ sub })), '200')
  await codeOf('/admin', await issuer.sign({ sub: 'refused' }))
  const gatehouse = (...args: readonly string[]) => run(t, ['usage', ...args, '--config', gateway.configFile])
  const report = await until('it is written', async () => {
    const { stdout } = await gatehouse('corp:ada', '--json')
    const json = JSON.parse(stdout) as { readonly days: readonly unknown[] }
    return json.days.length > 0 ? json : undefined
  })
  const used = [{ key: '', route: 'orders', requests: 2, units: 2 }]
  t.match(report, { plan: { name: 'small', quota: { limit: 100 } }, days: [{ requests: 2, used }] })
  const exported = await gatehouse('export')
  t.match(
    exported.stdout,
    /^accountId,email,.*\ncorp:%C3%A4%20b,,\S+,,orders,1,1\r\ncorp:ada,,\S+,,orders,2,2\r\n$/s,
  )
  t.match((await gatehouse('corp:nobody')).stdout, /No requests on these days/)
})

t.test('every snippet of the page is a config without problems', (t) => {
  const page = readFileSync('docs/issuers.md', 'utf8')
  const snippets = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text)
  t.equal(snippets.length, 9)
  for (const snippet of snippets) {
    const written = parse(snippet) as Options
    const config = {
      ...minimalConfig,
      upstreams: { orders: { targets: [{ url: 'http://127.0.0.1:1' }] } },
      routes: [],
      ...written,
    }
    t.strictSame(problems(t, config, { env: { INTROSPECTION_SECRET: 'x' } }), [])
  }
  t.end()
})
