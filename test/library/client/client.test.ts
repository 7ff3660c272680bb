import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { ClientError, type ClientOptions, createClient } from '#library/client.ts'
import { startServer } from '../../setup/backend.ts'
import { startBoth } from '../../setup/both.ts'
import { freePort, until } from '../../setup/net.ts'

/** A gateway and a client whose requests are counted by path. */
async function start(t: Test, config: Readonly<Record<string, unknown>> = {}) {
  const { backend, gateway } = await startBoth(t, { config })
  const created = await gateway.createAccount()
  const calls: string[] = []
  const counting: typeof fetch = (input, init) => {
    calls.push(new URL(input instanceof Request ? input.url : input).pathname)
    return fetch(input, init)
  }
  const clientWith = (options: Partial<ClientOptions>) =>
    createClient({ baseUrl: gateway.url, fetch: counting, ...options })
  const { secretKey, apiKey } = created
  return { backend, gateway, created, calls, clientWith, client: clientWith({ secretKey, apiKey }) }
}

type Started = Awaited<ReturnType<typeof start>>

/** Ends the client's session behind its back. @returns its token, which the gateway refuses from now on */
async function revokeToken({ client, gateway, created }: Started): Promise<string> {
  const token = await client.accessToken()
  await gateway.operate(({ sessions }) => sessions.endAll(created.account.id))
  const headers = { Authorization: `Bearer ${token}` }
  await until('the gateway has heard of it', async () => {
    const { status } = await fetch(`${gateway.url}/bearer`, { headers })
    return status === 401
  })
  return token
}

const countOf = (calls: readonly string[], name: string) => calls.filter((path) => path.endsWith(name)).length

t.test('a client gets a token once, and keeps it', async (t) => {
  const { client, calls } = await start(t)
  for (let index = 0; index < 3; index++) t.equal((await client.fetch('/bearer')).status, 200)
  t.equal(countOf(calls, '/access-token'), 1)
  t.equal(countOf(calls, '/refresh-token'), 0)
})

t.test('parallel calls share one exchange, and one refresh', async (t) => {
  const { created, calls, clientWith } = await start(t)
  const { secretKey, apiKey } = created
  let aheadMs = 0
  const client = clientWith({ secretKey, apiKey, clock: () => Date.now() + aheadMs })
  const callAll = async () =>
    new Set(
      (await Promise.all(Array.from({ length: 20 }, () => client.fetch('/bearer')))).map(
        ({ status }) => status,
      ),
    )
  t.strictSame(await callAll(), new Set([200]))
  t.equal(countOf(calls, '/access-token'), 1)
  aheadMs = 595_000
  t.strictSame(await callAll(), new Set([200]))
  t.equal(countOf(calls, '/refresh-token'), 1)
  t.equal(countOf(calls, '/access-token'), 1)
})

t.test('a token that cannot be refreshed is used until it expires', async (t) => {
  const { created, clientWith } = await start(t)
  const { secretKey, apiKey } = created
  let aheadMs = 0
  const answers = [
    () => Promise.reject(new TypeError('fetch failed')),
    () => new Response('', { status: 503 }),
  ]
  const client = clientWith({
    secretKey,
    apiKey,
    clock: () => Date.now() + aheadMs,
    fetch: async (input, init) =>
      String(input).endsWith('/refresh-token') ? (answers.shift() ?? Response.error)() : fetch(input, init),
  })
  const token = await client.accessToken()
  aheadMs = 595_000
  t.equal((await client.fetch('/bearer')).status, 200, 'the gateway cannot be reached')
  t.equal(await client.accessToken(), token, 'its store cannot')
  t.equal(answers.length, 0)
  aheadMs = 600_000
  await t.rejects(client.accessToken(), ClientError)
})

t.test('a request whose token was revoked is sent once more with another, with its body', async (t) => {
  const { backend, gateway, client, calls, created } = await start(t)
  t.equal((await client.fetch('/bearer')).status, 200)
  await gateway.operate(({ accounts }) => accounts.update(created.account.id, { role: 'Editor' }))
  let fetched = 1
  await until('the gateway has heard of it', async () => {
    const response = await client.fetch('/bearer', { method: 'POST', body: 'again' })
    t.strictSame([response.status, backend.last().body], [200, 'again'])
    fetched++
    return countOf(calls, '/bearer') > fetched
  })
  t.equal(countOf(calls, '/bearer'), fetched + 1)
})

t.test('a session that was ended is followed by another one', async (t) => {
  const { gateway, client, calls, created } = await start(t)
  t.equal((await client.fetch('/bearer')).status, 200)
  await gateway.operate(({ sessions }) => sessions.endAll(created.account.id))
  // The gateway hears of it within milliseconds; no call fails before or after.
  await until('the client starts another session', async () => {
    t.equal((await client.fetch('/bearer')).status, 200)
    return countOf(calls, '/access-token') > 1
  })
  t.equal(countOf(calls, '/access-token'), 2)
})

t.test('the body of a Request is sent once more, too, up to 1 MiB', async (t) => {
  const started = await start(t)
  const { backend, gateway, client, calls } = started
  const body = 'b'.repeat(1_048_576)
  const revoked = await revokeToken(started)
  const response = await client.fetch(
    new Request(`${gateway.url}/bearer`, { method: 'POST', body, headers: { 'X-Own': 'own' } }),
  )
  t.equal(response.status, 200)
  t.equal(countOf(calls, '/bearer'), 2)
  const { headers, body: sent } = backend.last()
  t.strictSame([sent === body, headers['x-own']], [true, 'own'])
  t.not(await client.accessToken(), revoked)
})

/** Bodies that hold a file, whose streams are counted. */
const files: Readonly<Record<string, (file: File) => Blob | FormData>> = {
  'a Blob': (file) => file,
  'a form': (file) => {
    const form = new FormData()
    form.set('file', file)
    return form
  },
}

for (const [what, bodyOf] of Object.entries(files))
  t.test(`${what} is read once, and again only after a 401, as nothing keeps what was read`, async (t) => {
    const started = await start(t)
    const { backend, client, calls } = started
    const file = new File(['x'.repeat(100_000)], 'file')
    const reads = t.capture(file, 'stream', file.stream)
    const post = async () => (await client.fetch('/bearer', { method: 'POST', body: bodyOf(file) })).status
    t.equal(await post(), 200)
    t.equal(reads().length, 1)
    await revokeToken(started)
    t.equal(await post(), 200)
    t.equal(reads().length, 2)
    t.equal(countOf(calls, '/bearer'), 3)
    t.match(backend.last().body, 'x'.repeat(100_000))
  })

/** What cannot be sent again; each makes one request. */
const streams: Readonly<Record<string, (url: string) => readonly [string | Request, RequestInit?]>> = {
  'a stream': (url) => [url, { method: 'POST', body: new Blob(['x']).stream() }],
  'an async iterable': (url) => [url, { method: 'POST', body: Readable.from(['x']) }],
  'more than 1 MiB in a Request': (url) => [
    new Request(url, { method: 'POST', body: 'x'.repeat(1_048_577) }),
  ],
  'a stream in a Request that has not ended': (url) => {
    const endless = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) })
    return [new Request(url, { method: 'POST', body: endless, duplex: 'half' })]
  },
}

for (const [what, requestOf] of Object.entries(streams))
  t.test(`after a 401 to ${what} the next request has another token`, async (t) => {
    const started = await start(t)
    const { gateway, client, calls } = started
    const revoked = await revokeToken(started)
    const response = await client.fetch(...requestOf(`${gateway.url}/bearer`))
    t.equal(response.status, 401)
    t.match(await response.json(), { code: 'token-revoked' })
    t.not(await client.accessToken(), revoked)
    t.equal((await client.fetch('/bearer')).status, 200)
    t.equal(countOf(calls, '/bearer'), 2)
  })

t.test('a body that cannot be kept, as Firefox shows none, is not sent again without it', async (t) => {
  const started = await start(t)
  const { gateway, client, calls } = started
  await revokeToken(started)
  t.intercept(Request.prototype, 'body', { value: undefined })
  const response = await client.fetch(new Request(`${gateway.url}/bearer`, { method: 'POST', body: 'x' }))
  t.equal(response.status, 401)
  t.equal(countOf(calls, '/bearer'), 1)
  t.equal((await client.fetch(new Request(`${gateway.url}/bearer`))).status, 200)
})

t.test('a refused stream has its response, also where no other token can be got', async (t) => {
  const started = await start(t)
  const { gateway, client, created } = started
  await revokeToken(started)
  await gateway.operate(({ accounts }) => accounts.remove(created.account.id))
  const { secretKey: SecretKey, apiKey: APIKey } = created
  await until('its keys are refused', async () => {
    const { status } = await gateway.post('/api/v1/accounts/access-token', { SecretKey, APIKey })
    return status === 401
  })
  const response = await client.fetch('/bearer', { method: 'POST', body: new Blob(['x']).stream() })
  t.equal(response.status, 401)
  await t.rejects(client.fetch('/bearer'), { code: 'credentials-invalid' })
})

t.test('a refusal that another token does not change is handed on, after one request', async (t) => {
  const { client, calls } = await start(t)
  const response = await client.fetch('/admin')
  t.equal(response.status, 403)
  t.match(await response.json(), { code: 'role-forbidden' })
  t.equal(countOf(calls, '/admin'), 1)
})

t.test('wrong keys are an error with the code of the gateway', async (t) => {
  const { clientWith, created } = await start(t)
  const client = clientWith({ secretKey: created.secretKey, apiKey: 'wrong' })
  const error: unknown = await client.fetch('/bearer').catch((reason: unknown) => reason)
  t.match(error, { name: 'ClientError', code: 'credentials-invalid', status: 401 })
})

t.test('a gateway that gives no token as it cannot be reached is an error with its cause', async (t) => {
  const client = createClient({
    baseUrl: `http://127.0.0.1:${await freePort()}`,
    secretKey: 'gate_sk_x',
    apiKey: 'gate_ak_x',
  })
  for (const call of [client.fetch('/x'), client.accessToken()]) {
    const error: unknown = await call.catch((reason: unknown) => reason)
    t.ok(error instanceof ClientError)
    t.match(error, { code: 'gateway-unreachable', status: 0, cause: TypeError })
  }
})

t.test('a refused token is not used again where no other can be got', async (t) => {
  const started = await start(t)
  const { created, clientWith } = started
  let isReachable = true
  const client = clientWith({
    secretKey: created.secretKey,
    apiKey: created.apiKey,
    fetch: (input, init) =>
      isReachable || input instanceof Request
        ? fetch(input, init)
        : Promise.reject(new TypeError('fetch failed')),
  })
  await revokeToken({ ...started, client })
  isReachable = false
  for (let count = 0; count < 2; count++)
    await t.rejects(client.fetch('/bearer'), { code: 'gateway-unreachable' })
  await t.rejects(client.accessToken(), { code: 'gateway-unreachable' })
  isReachable = true
  t.equal((await client.fetch('/bearer')).status, 200)
})

t.test('what is no base URL is refused by name, such as an unset variable', (t) => {
  // The cast stands for JavaScript, which knows no types.
  for (const baseUrl of [undefined, '', '/api', 'localhost:8080', 'ftp://localhost'] as string[])
    t.throws(() => createClient({ baseUrl }), { name: 'TypeError', message: /^baseUrl must be a URL/ })
  t.end()
})

t.test('a client needs no URL.parse, which older browsers lack', (t) => {
  t.intercept(URL, 'parse', { value: undefined })
  t.doesNotThrow(() => createClient({ baseUrl: 'https://api.example.com' }))
  t.end()
})

t.test('a key that is given but is none is refused by name, not taken for a sign-in by cookie', (t) => {
  const baseUrl = 'https://api.example.com'
  for (const [key, problem] of [
    [undefined, 'is undefined: leave it out, or is its variable unset?'],
    ['', 'is empty: leave it out, or is its variable unset?'],
    [' \n', 'is empty: leave it out, or is its variable unset?'],
    [null, 'must be a string'],
    [5, 'must be a string'],
  ])
    for (const name of ['secretKey', 'apiKey']) {
      // The cast stands for JavaScript, which knows no types.
      const options = { baseUrl, secretKey: 'gate_sk_x', apiKey: 'gate_ak_x', [name]: key } as ClientOptions
      t.throws(() => createClient(options), { name: 'TypeError', message: `${name} ${problem}` })
    }
  t.end()
})

t.test('white space around keys is removed, as of those that were read from files', async (t) => {
  const { created, clientWith } = await start(t)
  const [secretKey, apiKey] = [` ${created.secretKey}\n`, `${created.apiKey}\r\n`]
  t.equal((await clientWith({ secretKey }).fetch('/key')).status, 200)
  t.equal((await clientWith({ secretKey, apiKey }).fetch('/bearer')).status, 200)
})

t.test('a secret key alone is sent with every request', async (t) => {
  const { clientWith, created, calls } = await start(t)
  const client = clientWith({ secretKey: created.secretKey })
  t.equal((await client.fetch('/key')).status, 200)
  t.strictSame(calls, ['/key'])
  await t.rejects(client.accessToken(), TypeError)
})

t.test('no credential is sent to another origin, by a URL or by a redirect', async (t) => {
  const { backend: elsewhere, clientWith, created, client } = await start(t)
  const redirecting = await startServer(t, (_request, response) => {
    response.writeHead(307, { Location: `${elsewhere.url}/stolen` }).end()
  })
  const { secretKey, apiKey } = created
  await t.rejects(client.fetch(`${elsewhere.url}/x`), TypeError)
  await t.rejects(clientWith({ secretKey }).fetch(`${elsewhere.url}/x`), TypeError)
  await t.rejects(clientWith({ baseUrl: redirecting, secretKey }).fetch('/x'))
  await t.rejects(clientWith({ baseUrl: redirecting, secretKey, apiKey }).fetch('/x'))
  t.strictSame(elsewhere.seen, [])
})

t.test('a browser refreshes by its cookie, and the end of its session is an error', async (t) => {
  const { gateway, created, calls } = await start(t)
  const { RefreshToken } = await gateway.tokens(created)
  // What a browser does with cookies.
  let cookie = `refreshToken=${RefreshToken}`
  const browser: typeof fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    calls.push(url.pathname)
    if (init?.credentials !== 'include') return fetch(input, init)
    const response = await fetch(input, { ...init, headers: { ...(init.headers as object), Cookie: cookie } })
    cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie
    return response
  }
  const client = createClient({ baseUrl: gateway.url, fetch: browser })
  t.equal((await client.fetch('/bearer')).status, 200)
  t.equal((await client.fetch('/bearer')).status, 200)
  t.equal(countOf(calls, '/refresh-token'), 1)
  await client.revoke()
  const error: unknown = await client.fetch('/bearer').catch((reason: unknown) => reason)
  t.match(error, { name: 'ClientError', code: 'session-over' })
})

t.test('revoke ends the session', async (t) => {
  const { client, gateway } = await start(t)
  const token = await client.accessToken()
  await client.revoke()
  const headers = { Authorization: `Bearer ${token}` }
  t.match(await (await fetch(`${gateway.url}/bearer`, { headers })).json(), { code: 'token-revoked' })
})

t.test('a session whose revocation was not answered is ended by another call', async (t) => {
  const { clientWith, created, gateway } = await start(t)
  let isReachable = true
  const client = clientWith({
    secretKey: created.secretKey,
    apiKey: created.apiKey,
    fetch: (input, init) =>
      isReachable ? fetch(input, init) : Promise.reject(new TypeError('fetch failed')),
  })
  const headers = { Authorization: `Bearer ${await client.accessToken()}` }
  isReachable = false
  await t.rejects(client.revoke(), { code: 'gateway-unreachable' })
  isReachable = true
  await client.revoke()
  t.match(await (await fetch(`${gateway.url}/bearer`, { headers })).json(), { code: 'token-revoked' })
})

t.test('a request that is aborted does not wait for a token, which others still get', async (t) => {
  const { clientWith, created } = await start(t)
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  const client = clientWith({
    secretKey: created.secretKey,
    apiKey: created.apiKey,
    fetch: async (input, init) => {
      if (!(input instanceof Request)) await held
      return fetch(input, init)
    },
  })
  const patient = client.fetch('/bearer')
  const aborting = new AbortController()
  const impatient = client.fetch('/bearer', { signal: aborting.signal })
  aborting.abort(new Error('changed my mind'))
  await t.rejects(impatient, { message: 'changed my mind' })
  await t.rejects(client.fetch('/bearer', { signal: AbortSignal.abort() }), { name: 'AbortError' })
  letGo()
  t.equal((await patient).status, 200)
})
