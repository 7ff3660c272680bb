import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { secondTargetFields } from '#gateway/arrival/second-target-fields.ts'
import type { TestGateway } from '../../setup/gateway.ts'
import { type RawResponse, rawRequest } from '../../setup/raw-client.ts'
import { foreignPaths, ownPaths } from './proxies/own-paths.ts'
import { certificateFields, proxyFields } from './proxies/suite.ts'
import { startDecideGateway } from './support.ts'

interface Patterns {
  readonly patterns: readonly {
    readonly exact?: string
    readonly prefix?: string
    readonly safe_regex?: { readonly regex: string }
  }[]
}

interface ExtAuthz {
  readonly failure_mode_allow: boolean
  readonly allowed_headers: Patterns
  readonly http_service: {
    readonly path_prefix: string
    readonly authorization_response: {
      readonly allowed_upstream_headers: Patterns
      readonly allowed_client_headers: Patterns
    }
  }
}

interface Removing {
  readonly request_headers_to_remove: readonly string[]
}

/** The first part of a config that has a member of this name. */
function findPart(node: unknown, name: string): Record<string, unknown> | undefined {
  if (typeof node !== 'object' || node === null) return undefined
  if (Object.hasOwn(node, name)) return node as Record<string, unknown>
  for (const each of Object.values(node)) {
    const found = findPart(each, name)
    if (found) return found
  }
  return undefined
}

const config: unknown = parse(readFileSync('deploy/proxies/envoy.yaml', 'utf8'))
// The casts are sound: the tests fail where the file has another form.
const filter = findPart(config, 'http_service') as unknown as ExtAuthz
const { safe_regex: ownPathRule } = findPart(config, 'safe_regex') as unknown as {
  readonly safe_regex: { readonly regex: string }
}
const host = findPart(config, 'domains') as unknown as Removing & { readonly routes: readonly unknown[] }
const applicationRoute = findPart(host.routes, 'request_headers_to_remove') as unknown as Removing
/** Of requests for Gatehouse itself, and of those for the backend. */
const removedFromAll = host.request_headers_to_remove
const removed = [...removedFromAll, ...applicationRoute.request_headers_to_remove]

function matches({ patterns }: Patterns, name: string): boolean {
  return patterns.some(
    ({ exact, prefix, safe_regex: regex }) =>
      exact === name ||
      (prefix !== undefined && name.startsWith(prefix)) ||
      (regex !== undefined && new RegExp(`^(?:${regex.regex})$`).test(name)),
  )
}

const { http_filters: filters } = findPart(config, 'http_filters') as unknown as {
  readonly http_filters: readonly { readonly name: string }[]
}
const { inline_string: script } = findPart(config, 'inline_string') as unknown as {
  readonly inline_string: string
}

/** What `forward_client_cert_details: SANITIZE` removes. */
const sanitized = ['x-forwarded-client-cert']

type Fields = Readonly<Record<string, string>>

/** Of an answer to Envoy, which writes its own. */
const ofConnection = new Set(['date', 'connection', 'keep-alive', 'content-length'])

/**
 * What Envoy asks, as its documentation says: the method, the host and the path of the request, Content-Length 0, the
 * headers that are allowed, and its own address at the end of X-Forwarded-For.
 */
function ask(t: Test, { decideUrl }: TestGateway, line: string, fields: Fields): Promise<RawResponse> {
  const [method = '', path = ''] = line.split(' ')
  const sent = { ...fields, 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' }
  const allowed = Object.entries(sent).filter(([name]) => matches(filter.allowed_headers, name))
  return rawRequest(t, decideUrl, [
    `${method} ${filter.http_service.path_prefix}${path} HTTP/1.1`,
    'host: app.example.com',
    'content-length: 0',
    ...allowed.map(
      ([name, value]) => `${name}: ${name === 'x-forwarded-for' ? `${value},127.0.0.1` : value}`,
    ),
    'x-envoy-internal: true',
    'x-envoy-expected-rq-timeout-ms: 5000',
  ])
}

/** The headers for the backend: those of the answer replace, and then some are removed. */
function forBackend({ headers }: RawResponse, fields: Fields): Fields {
  const { allowed_upstream_headers: allowed } = filter.http_service.authorization_response
  const set = Object.entries(headers).filter(([name]) => matches(allowed, name))
  const all = { ...fields, ...Object.fromEntries(set) }
  return Object.fromEntries(Object.entries(all).filter(([name]) => !removed.includes(name)))
}

t.test(
  'a request that Envoy asks about reaches its backend with the identity, and without credentials',
  async (t) => {
    const gateway = await startDecideGateway(t)
    const { account, secretKey } = await gateway.createAccount()
    const fields = { secretkey: secretKey, 'x-user-role': 'Admin', 'x-user-email': 'a@b', 'x-custom': 'kept' }
    const answer = await ask(t, gateway, 'DELETE /key/1?a=b', fields)
    t.equal(answer.status, 200)
    const { 'x-request-id': requestId, ...rest } = forBackend(answer, fields)
    t.match(requestId, /^[0-9a-f-]{36}$/)
    t.strictSame(rest, { 'x-user-id': account.id, 'x-user-role': 'User', 'x-custom': 'kept' })
    const line = gateway.logLines.map((each) => JSON.parse(each)).find(({ msg }) => msg === 'request')
    t.match(line, { client: '203.0.113.7', method: 'DELETE', path: '/key/1', route: 'key' })
  },
)

t.test('an anonymous request that Envoy asks about has no identity', async (t) => {
  const gateway = await startDecideGateway(t)
  const fields = { 'x-user-id': 'admin', 'x-user-role': 'Admin', 'x-user-name': 'admin' }
  t.strictSame(
    { ...forBackend(await ask(t, gateway, 'GET /public', fields), fields), 'x-request-id': '' },
    { 'x-user-id': '', 'x-user-role': '', 'x-request-id': '' },
  )
})

t.test('a refusal reaches the client of Envoy with its challenge, and failures refuse', async (t) => {
  const gateway = await startDecideGateway(t)
  const { status, headers } = await ask(t, gateway, 'GET /key', {})
  t.equal(status, 401)
  const { allowed_client_headers: told } = filter.http_service.authorization_response
  t.match(headers['www-authenticate'], /SecretKey/)
  for (const name of ['www-authenticate', 'dpop-nonce', 'retry-after', 'ratelimit-limit'])
    t.ok(matches(told, name), name)
  t.equal(filter.failure_mode_allow, false)
  t.equal((await ask(t, gateway, 'GET /public', { 'x.user.id': 'admin' })).status, 403, 'another spelling')
  t.equal((await ask(t, gateway, 'GET /portal/sign-in', {})).status, 404, 'a path of Gatehouse itself')
})

t.test('Envoy leads a page visit to the sign-in, with its cookies', async (t) => {
  const gateway = await startDecideGateway(t, {
    config: {
      accessCookie: { enabled: true },
      portal: { host: 'auth.example.com' },
      publicUrl: 'https://app.example.com',
      routes: [{ name: 'app', path: '/app', auth: 'any', browser: { cookie: true, signIn: true } }],
    },
  })
  const { allowed_client_headers: told } = filter.http_service.authorization_response
  const page = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'none' }
  // Old browsers send no Sec-Fetch-*.
  for (const visit of [page, { accept: 'text/html' }]) {
    const { status, headers } = await ask(t, gateway, 'GET /app/x', visit)
    t.equal(status, 303)
    t.match(headers.location, /^https:\/\/auth\.example\.com\/portal\/continue\?/)
    t.match(headers['set-cookie'], /^gatehouse-visit=.*\n__Host-gatehouse-return=/)
    for (const name of Object.keys(headers).filter((each) => !ofConnection.has(each)))
      t.ok(matches(told, name), name)
  }
  for (const data of [
    { ...page, 'sec-fetch-dest': 'iframe' },
    { 'sec-fetch-mode': 'cors', accept: 'text/html' },
    {},
  ])
    t.equal((await ask(t, gateway, 'GET /app/x', data)).status, 401)
})

t.test("a client's own word about its certificate gets nowhere by Envoy", (t) => {
  for (const name of certificateFields.map((each) => each.toLowerCase())) {
    t.notOk(matches(filter.allowed_headers, name), name)
    // Envoy refuses names with `_`, and Gatehouse reads none with a dot.
    if (!/[_.]/.test(name)) t.ok(removedFromAll.includes(name) || sanitized.includes(name), name)
  }
  t.match(findPart(config, 'http_filters'), { forward_client_cert_details: 'SANITIZE' })
  t.end()
})

t.test('a client of Envoy says nothing that only a proxy may say', (t) => {
  const removed = new Set(removedFromAll)
  for (const name of ['X-Forwarded-Host', ...proxyFields]) t.ok(removed.has(name.toLowerCase()), name)
  t.end()
})

t.test('no service worker of a backend of Envoy reaches the portal', async (t) => {
  const script = { name: 'script', path: '/sw.js', auth: 'none' }
  const gateway = await startDecideGateway(t, { config: { routes: [script] } })
  t.equal((await ask(t, gateway, 'GET /sw.js', {})).status, 200)
  t.equal((await ask(t, gateway, 'GET /sw.js', { 'service-worker': 'script' })).status, 403)
  t.match(applicationRoute, {
    response_headers_to_remove: ['service-worker-allowed'],
    response_headers_to_add: [{ header: { key: 'vary', value: 'Service-Worker' } }],
  })
})

t.test('Envoy asks about second targets, in every spelling', async (t) => {
  const gateway = await startDecideGateway(t)
  const { secretKey } = await gateway.createAccount()
  const put = (name: string, value: string) =>
    ask(t, gateway, 'PUT /key/x', { secretkey: secretKey, [name.toLowerCase()]: value })
  for (const { name, form } of secondTargetFields.values()) {
    if (form !== 'account') {
      t.equal((await put(name, '/key/y')).status, 200, name)
      t.equal((await put(name, '/admin/y')).status, 403, name)
    }
    const spellings = [name.replaceAll('-', '.'), name.replaceAll('-', '')].filter((each) => each !== name)
    for (const spelled of spellings) t.equal((await put(spelled, '/key/y')).status, 403, spelled)
  }
  t.equal((await put('New-URI', '/key/y')).status, 403)
})

t.test('Envoy takes our cookies out after the decision, as HAProxy does', (t) => {
  const filterNames = ['ext_authz', 'lua', 'router'].map((name) => `envoy.filters.http.${name}`)
  t.strictSame(
    filters.map(({ name }) => name),
    filterNames,
  )
  const cookiePart = /^-- Names of accessCookie[\s\S]*?^end\n/m
  const [tested] = cookiePart.exec(readFileSync('deploy/proxies/gatehouse.lua', 'utf8')) ?? []
  t.ok(tested)
  t.equal(cookiePart.exec(script)?.[0], tested, 'the function that runs in the tests of HAProxy')
  const ownRoute = findPart(config, 'typed_per_filter_config')?.typed_per_filter_config
  t.match(ownRoute, { 'envoy.filters.http.lua': { disabled: true } }, 'not for Gatehouse itself')
  t.end()
})

t.test('Envoy leaves every path of Gatehouse itself to the main listener', (t) => {
  const pattern = new RegExp(`^(?:${ownPathRule.regex})$`)
  for (const path of ownPaths) t.match(path, pattern)
  for (const path of foreignPaths) t.notMatch(path, pattern)
  t.end()
})
