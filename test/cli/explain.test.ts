import t, { type Test } from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway, storeDrivers, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { type Outcome, run } from './run.ts'
import { createWorkspace } from './workspace.ts'

// slow: starts the program for each request that is explained

interface Step {
  readonly step: string
  readonly outcome: string
  readonly detail: string
  readonly facts: { readonly headers?: readonly Header[]; readonly [name: string]: unknown }
}

interface Header {
  readonly name: string
  readonly value: string
}

interface Explained {
  readonly decision: string
  readonly status: number
  readonly code?: string
  readonly route: string
  readonly steps: readonly Step[]
}

interface Case {
  readonly what: string
  readonly line: string
  readonly headers?: readonly string[]
  /** What is explained: decision, then status and code of a refusal, then the route. */
  readonly expected: string
  /** The step that refuses. */
  readonly at?: string
}

const made = /^\(new for each request\)$/

function explainOf(t: Test, { configFile }: Pick<TestGateway, 'configFile'>) {
  return (line: string, headers: readonly string[] = [], ...more: readonly string[]): Promise<Outcome> => {
    const [method = '', target = ''] = line.split(' ')
    const url = target.startsWith('/') ? `http://gateway.test${target}` : target
    const flags = headers.flatMap((header) => ['-H', header])
    return run(t, ['explain', method, url, ...flags, '--config', configFile, ...more])
  }
}

for (const driver of storeDrivers) {
  t.test(`explain on ${driver}`, async (t) => {
    const { backend, gateway } = await startBoth(t, {
      driver,
      config: {
        routes: [
          ...[
            { name: 'public', path: '/public', auth: 'none' },
            { name: 'optional', path: '/optional', auth: 'optional' },
            { name: 'key', path: '/key', auth: 'secretKey' },
            { name: 'bearer', path: '/bearer', auth: 'bearer' },
            { name: 'any', path: '/any', auth: 'any' },
            { name: 'admin', path: '/any/admin', auth: 'any', roles: ['Admin'] },
            { name: 'verified', path: '/verified', auth: 'any', verifiedOnly: true },
            { name: 'passing', path: '/passing', auth: 'any', forwardCredentials: true, stripPrefix: true },
            { name: 'small', path: '/small', auth: 'any', maxBody: '10B', methods: ['GET', 'PUT'] },
            { name: 'hosted', path: '/hosted', auth: 'any', host: 'other.test' },
            { name: 'limited', path: '/limited', auth: 'any', rateLimit: { limit: 1, per: '1h' } },
          ].map((route) => ({ ...route, upstream: 'backend' })),
        ],
        identity: { headers: { name: 'X-User-Name', session: 'X-User-Session' } },
        limits: { failures: { limit: 1_000, per: '1m' } },
      },
    })
    const user = await gateway.createAccount({ firstName: 'Åda' })
    const admin = await gateway.createAccount({ role: 'Admin' })
    const unverified = await gateway.createAccount({ isVerified: false })
    const disabled = await gateway.createAccount()
    await gateway.operate(({ accounts }) => accounts.update(disabled.account.id, { isDisabled: true }))
    const reset = await gateway.createAccount()
    await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(reset.account.id, 0))
    const token = (await gateway.tokens(user)).JwtToken
    const revoked = await gateway.tokens(user)
    await gateway.post('/api/v1/accounts/revoke-token', { token: revoked.RefreshToken })

    const key = (account: { readonly secretKey: string }) => [`SecretKey: ${account.secretKey}`]
    const bearer = (jwt: string) => [`Authorization: Bearer ${jwt}`]
    const mistyped = [`SecretKey: ${user.secretKey.slice(0, -1)}-`]
    const [head, claims, signature = ''] = token.split('.')
    const forged = `${head}.${claims}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`

    const cases: readonly Case[] = [
      { what: 'a public route', line: 'GET /public/x?y=1', expected: 'forward public' },
      {
        what: 'a key on a public route',
        line: 'GET /public',
        headers: key(user),
        expected: 'forward public',
      },
      {
        what: 'another scheme on a public route',
        line: 'GET /public',
        headers: ['Authorization: Basic eHk='],
        expected: 'forward public',
      },
      { what: 'nobody on an optional route', line: 'GET /optional', expected: 'forward optional' },
      {
        what: 'a wrong key on an optional route',
        line: 'GET /optional',
        headers: key(reset),
        expected: 'refuse 401 secret-key-invalid optional',
        at: 'principal',
      },
      { what: 'a key', line: 'GET /key', headers: key(user), expected: 'forward key' },
      {
        what: 'a key, POST',
        line: 'POST /key/a/b',
        headers: [...key(user), 'X-Y: z'],
        expected: 'forward key',
      },
      { what: 'a token', line: 'GET /bearer', headers: bearer(token), expected: 'forward bearer' },
      {
        what: 'a path of other spelling',
        line: 'GET /%6Bey/%41',
        headers: key(user),
        expected: 'forward key',
      },
      { what: 'an admin', line: 'GET /any/admin', headers: key(admin), expected: 'forward admin' },
      {
        what: 'a stripped prefix, credentials passed on',
        line: 'GET /passing/x',
        headers: key(user),
        expected: 'forward passing',
      },
      {
        what: 'what a client claims to be',
        line: 'GET /any',
        headers: [
          ...key(user),
          'X_User_Id: 1',
          'X-Forwarded-For: 9.9.9.9',
          'X-Request-Id: r',
          'Connection: close, X-User-Id',
        ],
        expected: 'forward any',
      },
      {
        what: 'cookies',
        line: 'GET /any',
        headers: [...key(user), 'Cookie: a=1; refreshToken=2; b=3'],
        expected: 'forward any',
      },
      {
        what: 'a body that just fits',
        line: 'PUT /small',
        headers: [...key(user), 'Content-Length: 0'],
        expected: 'forward small',
      },
      {
        what: 'a body too large',
        line: 'PUT /small',
        headers: [...key(user), 'Content-Length: 11'],
        expected: 'refuse 413 body-too-large small',
        at: 'limits',
      },
      {
        what: 'another host',
        line: 'GET /hosted',
        headers: key(user),
        expected: 'refuse 404 route-not-found _unmatched',
        at: 'route',
      },
      {
        what: 'no credential',
        line: 'GET /any',
        expected: 'refuse 401 credentials-missing any',
        at: 'scheme',
      },
      {
        what: 'a token where keys are taken',
        line: 'GET /key',
        headers: bearer(token),
        expected: 'refuse 401 scheme-not-accepted key',
        at: 'scheme',
      },
      {
        what: 'another scheme',
        line: 'GET /any',
        headers: ['Authorization: Basic eHk='],
        expected: 'refuse 401 scheme-not-accepted any',
        at: 'scheme',
      },
      {
        what: 'key and token',
        line: 'GET /any',
        headers: [...key(user), ...bearer(token)],
        expected: 'refuse 400 credentials-ambiguous any',
        at: 'scheme',
      },
      {
        what: 'two keys',
        line: 'GET /any',
        headers: [...key(user), ...key(user)],
        expected: 'refuse 400 credentials-ambiguous any',
        at: 'scheme',
      },
      {
        what: 'a mistyped key',
        line: 'GET /any',
        headers: mistyped,
        expected: 'refuse 401 secret-key-invalid any',
        at: 'principal',
      },
      {
        what: 'a key that was reset',
        line: 'GET /any',
        headers: key(reset),
        expected: 'refuse 401 secret-key-invalid any',
        at: 'principal',
      },
      {
        what: 'an API key',
        line: 'GET /any',
        headers: [`SecretKey: ${user.apiKey}`],
        expected: 'refuse 401 secret-key-invalid any',
        at: 'principal',
      },
      {
        what: 'a disabled account',
        line: 'GET /any',
        headers: key(disabled),
        expected: 'refuse 403 account-disabled any',
        at: 'principal',
      },
      {
        what: 'a forged token',
        line: 'GET /any',
        headers: bearer(forged),
        expected: 'refuse 401 token-invalid any',
        at: 'principal',
      },
      {
        what: 'no token at all',
        line: 'GET /any',
        headers: ['Authorization: Bearer'],
        expected: 'refuse 401 token-invalid any',
        at: 'principal',
      },
      {
        what: 'a revoked session',
        line: 'GET /any',
        headers: bearer(revoked.JwtToken),
        expected: 'refuse 401 token-revoked any',
        at: 'principal',
      },
      {
        what: 'another role',
        line: 'GET /any/admin',
        headers: key(user),
        expected: 'refuse 403 role-forbidden admin',
        at: 'policy',
      },
      {
        what: 'another role, by token',
        line: 'GET /any/admin',
        headers: bearer(token),
        expected: 'refuse 403 role-forbidden admin',
        at: 'policy',
      },
      {
        what: 'an unverified account',
        line: 'GET /verified',
        headers: key(unverified),
        expected: 'refuse 403 account-unverified verified',
        at: 'policy',
      },
      {
        what: 'no such path',
        line: 'GET /nowhere',
        expected: 'refuse 404 route-not-found _unmatched',
        at: 'route',
      },
      {
        what: 'no such method',
        line: 'DELETE /small',
        headers: key(user),
        expected: 'refuse 405 method-not-allowed small',
        at: 'route',
      },
      { what: 'TRACE', line: 'TRACE /public', expected: 'refuse 405 method-not-allowed public', at: 'route' },
      {
        what: 'dot segments',
        line: 'GET /public/../key',
        expected: 'refuse 400 path-ambiguous _unmatched',
        at: 'request',
      },
      {
        what: 'an empty segment',
        line: 'GET //key',
        expected: 'refuse 400 path-ambiguous _unmatched',
        at: 'route',
      },
      {
        what: 'an encoded slash that no route precedes',
        line: 'GET /key%2Fb',
        headers: key(user),
        expected: 'refuse 400 path-ambiguous _unmatched',
        at: 'route',
      },
      {
        what: 'a wrong method of an own path',
        line: 'GET /api/v1/accounts/access-token',
        expected: 'refuse 405 method-not-allowed _gateway',
        at: 'route',
      },
    ]

    for (const { what, line, headers = [], expected, at } of cases) {
      t.test(`explain says what the gateway does: ${what}`, async (t) => {
        const before = backend.seen.length
        const outcome = await explainOf(t, gateway)(line, headers, '--json')
        t.equal(outcome.status, 0)
        t.equal(outcome.stderr, '')
        const explained = outcome.json() as Explained
        const { decision, status, code, route, steps } = explained
        t.equal([decision, ...(code ? [status, code] : []), route].join(' '), expected)
        assertSteps(t, steps, at)
        t.equal(backend.seen.length, before, 'nothing was sent')

        // On a busy machine the store may be too slow for a request.
        const answer = await until('the store is quick enough', async () => {
          const asked = await ask(t, gateway.url, line, headers)
          return asked.status === 503 ? undefined : asked
        })
        if (decision === 'forward') {
          t.equal(answer.status, 200)
          assertHead(t, steps.at(-1), backend.last())
        } else t.strictSame([answer.status, answer.json().code], [status, code])
        for (const secret of [user.secretKey, admin.secretKey, reset.secretKey, user.apiKey, signature]) {
          t.notMatch(outcome.stdout, secret, 'no secret is printed')
        }
        const plain = await explainOf(t, gateway)(line, headers)
        t.match(
          plain.stdout.trimEnd().split('\n').at(-1),
          code ? `refuse: ${status} ${code}` : `forward: route "${route}"`,
        )
        for (const secret of [user.secretKey, signature, 'eHk=']) t.notMatch(plain.stdout, secret)
      })
    }

    t.test('explain counts neither a failure nor a request', async (t) => {
      const explain = explainOf(t, gateway)
      for (let turn = 0; turn < 3; turn++) {
        t.match(await explain('GET /limited', key(user)), {
          stdout: /1 requests in 3600 s, counted for account/,
        })
      }
      t.equal((await ask(t, gateway.url, 'GET /limited', key(user))).status, 200, 'the one that may pass')
      t.equal((await ask(t, gateway.url, 'GET /limited', key(user))).status, 429)
      t.match(await explain('GET /limited', key(user)), { status: 0, stdout: /forward: route "limited"/ })
    })

    t.test('explain refuses a token of another gateway, and creates no key', async (t) => {
      const before = await gateway.operate(({ signingKeys }) => signingKeys.list())
      const outcome = await explainOf(t, gateway)(
        'GET /any',
        bearer(token),
        '--set',
        'tokens.algorithm=RS256',
      )
      t.match(outcome.stdout, /forward: route "any"/, 'what was issued before the change is still good')
      const after = await gateway.operate(({ signingKeys }) => signingKeys.list())
      t.strictSame(
        after.map(({ kid }) => kid),
        before.map(({ kid }) => kid),
      )
    })

    t.test('explain with the store down reports it, and what follows', async (t) => {
      if (!gateway.redis) return
      const nowhere = ['--set', 'store.redis.url=redis://127.0.0.1:1', '--json']
      const explain = explainOf(t, gateway)
      for (const headers of [key(user), bearer(token)]) {
        const explained = (await explain('GET /any', headers, ...nowhere)).json() as Explained
        t.match(explained, { decision: 'refuse', status: 503, code: 'store-unavailable', route: 'any' })
        t.match(explained.steps.at(-1)?.detail, /credential store unavailable \(.+\)/)
      }
      const malformed = (await explain('GET /any', mistyped, ...nowhere)).json()
      t.match(malformed, { status: 401, code: 'secret-key-invalid' }, 'a malformed key needs no store')
      t.match((await explain('GET /public', [], ...nowhere)).json(), { decision: 'forward' })
    })
  })
}

t.test('explain of a path of the gateway says that the gateway answers it', async (t) => {
  const { run } = createWorkspace(t)
  for (const [method, path] of [
    ['POST', '/api/v1/accounts/access-token'],
    ['POST', '/api/v1/accounts/refresh-token'],
    ['GET', '/.well-known/jwks.json'],
    ['HEAD', '/.well-known/jwks.json'],
  ] as const) {
    const explained = (await run('explain', method, path, '--json')).json()
    t.match(explained, { decision: 'answer', status: 200, route: '_gateway' }, path)
  }
})

t.test('explain without a database knows no account, and creates none', async (t) => {
  const { run } = createWorkspace(t)
  const key = `SecretKey: gsk_${'a'.repeat(16)}_${'b'.repeat(43)}_000000`
  t.match(await run('explain', 'GET', '/x', '-H', key), {
    status: 0,
    stdout: /refuse: 401 secret-key-invalid/,
  })
  const jwt = `${Buffer.from('{"alg":"ES256","typ":"at+jwt","kid":"x"}').toString('base64url')}.e30.AAAA`
  const outcome = await run('explain', 'GET', '/x', '-H', `Authorization: Bearer ${jwt}`)
  t.match(outcome, { status: 0, stdout: /refuse: 401 token-invalid/ })
  const { stdout } = await run('accounts', 'list')
  t.match(stdout, /no accounts/i, 'it is the first command that makes it')
})

t.test('explain names the routes that the chosen one precedes', async (t) => {
  const route = { upstream: 'backend', auth: 'none' }
  const { run } = createWorkspace(t, {
    routes: [
      { ...route, name: 'all', path: '/' },
      { ...route, name: 'a', path: '/a' },
      { ...route, name: 'a-get', path: '/a', methods: ['GET'] },
      { ...route, name: 'a-host', path: '/a', host: 'api.example' },
      { ...route, name: 'other', path: '/b' },
    ],
  })
  const { stdout } = await run('explain', 'GET', 'http://API.example:81/a/x')
  t.match(
    stdout,
    '"a-host": host api.example, prefix /a, any method; takes precedence over "a-get" (/a), "a" (/a), "all" (/)\n',
  )
  t.match(
    (await run('explain', 'GET', '/b')).stdout,
    '"other": any host, prefix /b, any method; takes precedence over "all" (/)\n',
  )
})

t.test("explain derives the client from the connection's address", async (t) => {
  const { run } = createWorkspace(t, {
    routes: [{ name: 'all', path: '/', upstream: 'backend', auth: 'none' }],
    trustedProxies: ['10.0.0.0/8'],
    publicUrl: 'https://api.example.com',
  })
  const headers = [
    '-H',
    'X-Forwarded-For: 203.0.113.7',
    '-H',
    'X-Forwarded-Proto: https',
    '-H',
    'X-Request-Id: r1',
  ]
  const [trusted, other] = [
    await run('explain', 'GET', '/', ...headers, '--from', '10.0.0.1'),
    await run('explain', 'GET', '/', ...headers, '--from', '2001:db8::1'),
  ]
  t.match(trusted.stdout, /from 203\.0\.113\.7, according to the trusted proxy 10\.0\.0\.1/)
  t.match(trusted.stdout, /X-Forwarded-Proto: https\n.*\n\s+X-Forwarded-For: 203\.0\.113\.7, 10\.0\.0\.1\n/)
  t.match(trusted.stdout, /X-Request-Id: r1\n/)
  t.match(other.stdout, /from 2001:db8::1\n/)
  t.match(other.stdout, /X-Forwarded-Proto: http\n.*\n\s+X-Forwarded-For: 2001:db8::1\n/)
  t.match(other.stdout, /Host: api\.example\.com\n/, 'a path alone is asked of the public URL')
})

t.test('explain says what becomes of trailers if a request can have some', async (t) => {
  const options = { upstream: 'backend', auth: 'none' }
  const { configFile } = await startGateway(t, {
    config: {
      routes: [
        { ...options, name: 'drop', path: '/drop' },
        { ...options, name: 'pass', path: '/pass', trailers: 'pass' },
      ],
    },
  })
  const explain = explainOf(t, { configFile })
  for (const trailers of ['drop', 'pass']) {
    const headers = ['Transfer-Encoding: chunked', 'Trailer: X-Sum']
    const { stdout } = await explain(`POST /${trailers}`, headers, '--json')
    const facts = (JSON.parse(stdout) as Explained).steps.at(-1)?.facts
    t.equal(facts?.trailers, trailers)
    const sent = JSON.stringify(facts?.headers)
    t.equal(sent.includes('X-Sum'), trailers === 'pass')
    t.equal(sent.includes('"close"'), trailers === 'pass')
  }
})

t.test('explain treats an upgrade as one if the route accepts it', async (t) => {
  const route = { upstream: 'backend', auth: 'none' }
  const { run } = createWorkspace(t, {
    routes: [
      { ...route, name: 'ws', path: '/ws', websocket: true },
      { ...route, name: 'http', path: '/http' },
    ],
  })
  const asks = (path: string, ...protocol: string[]) =>
    run('explain', 'GET', path, '-H', `Upgrade: ${protocol.join()}`, '-H', 'Connection: Upgrade')
  const upgraded = /Connection: Upgrade\n\s+Upgrade: websocket\n/
  t.match(await asks('/ws', 'WebSocket'), { stdout: upgraded })
  t.notMatch((await asks('/http', 'websocket')).stdout, upgraded)
  t.notMatch((await asks('/ws', 'h2c')).stdout, upgraded)
})

t.test('explain never shows credentials', async (t) => {
  const { run } = createWorkspace(t, {
    routes: [{ name: 'all', path: '/', upstream: 'backend', auth: 'none', forwardCredentials: true }],
  })
  const key = `gsk_${'a'.repeat(16)}_${'b'.repeat(43)}_000000`
  const lines = [
    `SecretKey: ${key}`,
    'Authorization: Basic s3cret',
    'Cookie: sid=s3cret',
    'X-Api-Key: s3cret',
    `X-Y: a ${key}`,
    'Referer: https://a.example/?token=s3cret',
  ]
  for (const json of [[], ['--json']]) {
    const url = `/x/${key}?access_token=s3cret&a=b`
    const outcome = await run('explain', 'GET', url, ...lines.flatMap((line) => ['-H', line]), ...json)
    t.equal(outcome.status, 0)
    t.notMatch(outcome.stdout + outcome.stderr, /s3cret|gsk_a/)
    t.match(outcome.stdout, /sid=\[secret\]/, 'the names of cookies are')
    t.match(outcome.stdout, /access_token=\[secret\]&a=b/)
  }
  for (const args of [['-H', `SecretKey ${key}`], ['-H', `Secret Key: ${key}`], [`SecretKey: ${key}`]]) {
    const outcome = await run('explain', 'GET', '/x', ...args)
    t.equal(outcome.status, 2)
    t.notMatch(outcome.stderr, /gsk_a/)
  }
})

t.test('explain shows the identity headers under their configured names', async (t) => {
  const headers = { id: 'X-Auth-User', role: 'X-Token-Role' }
  const { run } = createWorkspace(t, { identity: { headers } })
  const created = (await run('accounts', 'create', '--email', 'a@example.com', '--json')).json()
  const { id, secretKey } = created as { readonly id: string; readonly secretKey: string }
  const { stdout } = await run('explain', 'GET', '/', `-HSecretKey: ${secretKey}`, '-H', 'X-Auth-User: me')
  t.match(stdout, `X-Auth-User: ${id}\n      X-Token-Role: User\n`)
  t.notMatch(stdout, secretKey)
})

const bad: readonly (readonly [what: string, args: readonly string[], expected: RegExp])[] = [
  ['no URL', ['GET'], /URL is missing/],
  [
    'a path without a leading slash',
    ['GET', 'orders'],
    /the URL must look like http:\/\/localhost:8080\/orders/,
  ],
  ['a URL of another scheme', ['GET', 'ftp://a/b'], /the URL must look like/],
  ['a URL with an empty host', ['GET', 'http:///b'], /host of the URL/],
  ['a port out of range', ['GET', 'http://a:99999/b'], /host of the URL/],
  ['a user', ['GET', 'http://u:p@a/b'], /the URL contains a user name: give credentials with -H/],
  ['a path with a space', ['GET', '/a b'], /percent-encode/],
  ['a path with a control character', ['GET', '/a\x7fb'], /percent-encode/],
  ['* with another method than OPTIONS', ['GET', '*'], /the URL must look like/],
  ['a host beyond ASCII', ['GET', 'http://é.example/'], /host of the URL/],
  ['a method in small letters', ['get', '/'], /methods are case-sensitive: did you mean "GET"\?/],
  ['a method with a space', ['G T', '/'], /"G T" is not an HTTP method/],
  ['a header without colon', ['GET', '/', '-H', 'SecretKey'], /header 1 \(-H\) has no colon/],
  [
    'a header without name',
    ['GET', '/', '-H', 'A: b', '-H', ': x'],
    /the name of header 2 \(-H\) is malformed/,
  ],
  ['a line break in a header', ['GET', '/', '-H', 'A: b\r\nC: d'], /header 1 \(-H\) contains a line break/],
  [
    'an invalid address',
    ['GET', '/', '--from', 'here'],
    /--from must be an address such as 203\.0\.113\.7, not "here"/,
  ],
]

for (const [what, args, expected] of bad) {
  t.test(`explain reports bad usage, whatever the config: ${what}`, async (t) => {
    const { run } = createWorkspace(t, { routes: 'broken' })
    const { status, stdout, stderr } = await run('explain', ...args)
    t.equal(status, 2)
    t.equal(stdout, '')
    t.match(stderr, expected)
  })
}

t.test('explain with a broken config lists its problems', async (t) => {
  const { run } = createWorkspace(t, { routes: 'broken' })
  t.match(await run('explain', 'GET', '/'), { status: 1, stderr: /routes: must be a list/ })
})

/** The steps come in the order of the gateway, each once, and only the last may refuse. */
function assertSteps(t: Test, steps: readonly Step[], at: string | undefined): void {
  const order = ['request', 'route', 'scheme', 'principal', 'policy', 'limits', 'upstream']
  const last = at ?? 'upstream'
  t.strictSame(
    steps.map(({ step, outcome }) => `${step} ${outcome}`),
    order.slice(0, order.indexOf(last) + 1).map((step) => `${step} ${step === at ? 'refused' : 'passed'}`),
  )
  for (const { detail } of steps) t.match(detail, /^.+$/)
}

/** The backend receives what was explained, name by name and in order, except placeholders. */
function assertHead(
  t: Test,
  step: Step | undefined,
  seen: { readonly method: string; readonly url: string; readonly rawHeaders: readonly string[] },
): void {
  t.strictSame([step?.facts.method, step?.facts.target], [seen.method, seen.url])
  const explained = step?.facts.headers ?? []
  const names = seen.rawHeaders.filter((_, index) => index % 2 === 0)
  const values = seen.rawHeaders.filter((_, index) => index % 2 === 1)
  t.strictSame(
    explained.map(({ name }) => name),
    names,
  )
  for (const [index, { name, value }] of explained.entries()) {
    if (value.includes('[secret]') || made.test(value)) continue
    t.equal(value, values[index], name)
  }
}
