import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import type { TestGateway } from '../../setup/gateway.ts'
import { rawRequest } from '../../setup/raw-client.ts'
import { ownPaths } from './proxies/own-paths.ts'
import { certificateFields, proxyFields } from './proxies/suite.ts'
import { startDecideGateway } from './support.ts'

/** The part of the file that a router with forwardAuth goes by. */
interface TraefikConfig {
  readonly http: {
    readonly routers: {
      readonly gatehouse: { readonly rule: string; readonly middlewares: readonly string[] }
      readonly 'other-cookies': { readonly rule: string; readonly middlewares: readonly string[] }
      readonly application: { readonly middlewares: readonly string[] }
    }
    readonly middlewares: Readonly<
      Record<
        string,
        {
          readonly headers?: {
            readonly customRequestHeaders?: Readonly<Record<string, string>>
            readonly customResponseHeaders?: Readonly<Record<string, string>>
          }
          readonly forwardAuth?: { readonly address: string; readonly authResponseHeaders: readonly string[] }
        }
      >
    >
  }
}

// The cast is sound: the test fails where the file has another form.
const config = parse(readFileSync('deploy/proxies/traefik.yaml', 'utf8')) as TraefikConfig

type Fields = Readonly<Record<string, string>>

/** Go writes names like this, whatever the client sent. */
const canonical = (name: string) =>
  name.toLowerCase().replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase())

/** What forwardAuth sends, as its documentation says: the client's headers, and five properties of the request. */
function question(address: string, line: string, fields: Fields): readonly string[] {
  const { host, pathname } = new URL(address)
  const [method = '', uri = ''] = line.split(' ')
  const described = {
    ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [canonical(name), value])),
    'User-Agent': 'curl/8.5.0',
    'X-Forwarded-For': '203.0.113.7',
    'X-Forwarded-Host': 'app.example.com',
    'X-Forwarded-Method': method,
    'X-Forwarded-Port': '443',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Server': 'traefik-0',
    'X-Forwarded-Uri': uri,
    'X-Real-Ip': '203.0.113.7',
    'Accept-Encoding': 'gzip',
  }
  return [
    `GET ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    ...Object.entries(described).map(([name, value]) => `${name}: ${value}`),
  ]
}

/** What every Traefik removes by itself of what a client sends. */
const removedByItself: ReadonlySet<string> = new Set([
  'X-Forwarded-Method',
  'X-Forwarded-Port',
  'X-Forwarded-Server',
  'X-Forwarded-Uri',
  'X-Real-IP',
])

/** The router of a request that is not for Gatehouse itself. */
function routerOf({ Cookie: cookie = '' }: Fields) {
  const { 'other-cookies': other, application } = config.http.routers
  const [, own = ''] = /^PathPrefix\(`\/`\) && !HeaderRegexp\(`Cookie`, `([^`]+)`\)$/.exec(other.rule) ?? []
  if (!own) throw new Error(other.rule)
  return new RegExp(own).test(cookie) ? application : other
}

/** The middlewares of the router in their order. @returns the headers for the backend, or the status of a refusal */
async function passThrough(
  t: Test,
  { decideUrl }: TestGateway,
  line: string,
  sent: Fields,
): Promise<Fields | number> {
  let fields: Fields = Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [canonical(name), value]),
  )
  for (const name of routerOf(fields).middlewares) {
    const { headers, forwardAuth } = config.http.middlewares[name] ?? {}
    if (headers) {
      const removed = new Set(Object.keys(headers.customRequestHeaders ?? {}).map(canonical))
      fields = Object.fromEntries(Object.entries(fields).filter(([each]) => !removed.has(each)))
    }
    if (forwardAuth) {
      t.equal(forwardAuth.address, 'http://127.0.0.1:8081/decide')
      const response = await rawRequest(t, decideUrl, question(`${decideUrl}/decide`, line, fields))
      if (response.status < 200 || response.status > 299) return response.status
      for (const each of forwardAuth.authResponseHeaders.map(canonical)) {
        const { [each]: _, ...others } = fields
        const value = response.headers[each.toLowerCase()]
        fields = value === undefined ? others : { ...others, [each]: value }
      }
    }
  }
  return fields
}

t.test(
  'a request that Traefik describes reaches its backend with the identity, and without credentials',
  async (t) => {
    const gateway = await startDecideGateway(t)
    const { account, secretKey } = await gateway.createAccount()
    const got = await passThrough(t, gateway, 'POST /key/1?a=b', {
      SecretKey: secretKey,
      'X-User-Role': 'Admin',
      'X-Custom': 'kept',
      Connection: 'close, X-User-Id',
    })
    const { 'X-Request-Id': requestId, ...rest } = Object(got) as Record<string, string>
    t.match(requestId, /^[0-9a-f-]{36}$/)
    t.strictSame(rest, { 'X-User-Id': account.id, 'X-User-Role': 'User', 'X-Custom': 'kept' })
  },
)

t.test('a request with one of our cookies reaches the backend of Traefik without any', async (t) => {
  const gateway = await startDecideGateway(t)
  const cookiesFor = async (Cookie: string) =>
    Object(await passThrough(t, gateway, 'GET /public', { Cookie })).Cookie
  t.equal(await cookiesFor('a=1; b=2'), 'a=1; b=2')
  for (const own of ['accessToken=x', '__Host-accessToken=x', 'refreshToken=x'])
    for (const cookies of [own, `${own}; a=1`, `a=1; ${own}; b=2`, `a=1; ${own}`, `${own}; ${own}`])
      t.equal(await cookiesFor(cookies), undefined, cookies)
})

t.test("a client's own word about its certificate gets nowhere by Traefik", async (t) => {
  const names = certificateFields.filter((each) => !/[_.]/.test(each))
  const claims = Object.fromEntries(names.map((name) => [name, 'claimed']))
  const gateway = await startDecideGateway(t)
  t.notMatch(JSON.stringify(await passThrough(t, gateway, 'GET /public', claims)), 'claimed')
  const [first, ...others] = config.http.routers.gatehouse.middlewares
  t.strictSame(others, [])
  t.equal(first, config.http.routers.application.middlewares[0], 'to the main listener neither')
})

t.test('a client of Traefik says nothing that only a proxy may say', async (t) => {
  const names = proxyFields.filter((name) => !removedByItself.has(name))
  const claims = Object.fromEntries(names.map((name) => [name, 'claimed']))
  const gateway = await startDecideGateway(t)
  t.notMatch(JSON.stringify(await passThrough(t, gateway, 'GET /public', claims)), 'claimed')
})

t.test('no service worker of a backend of Traefik reaches the portal', async (t) => {
  const script = { name: 'script', path: '/sw.js', auth: 'none' }
  const gateway = await startDecideGateway(t, { config: { routes: [script] } })
  t.equal(await passThrough(t, gateway, 'GET /sw.js', { 'Service-Worker': 'script' }), 403)
  const { 'other-cookies': other, application } = config.http.routers
  for (const { middlewares } of [other, application]) {
    const changed = middlewares.map((name) => config.http.middlewares[name]?.headers?.customResponseHeaders)
    t.strictSame(Object.assign({}, ...changed), { 'Service-Worker-Allowed': '' })
  }
})

t.test('an anonymous request that Traefik describes has no identity', async (t) => {
  const gateway = await startDecideGateway(t)
  const got = await passThrough(t, gateway, 'GET /public', { 'X-User-Id': 'admin', 'X-User-Email': 'a@b' })
  t.match(got, { 'X-User-Id': '', 'X-User-Role': '' })
  t.notMatch(got, { 'X-User-Email': /./ })
})

t.test('a request that Traefik describes is refused with the status of the main listener', async (t) => {
  const gateway = await startDecideGateway(t)
  const { secretKey } = await gateway.createAccount()
  const cases: readonly (readonly [line: string, fields: Fields, status: number])[] = [
    ['GET /key', {}, 401],
    ['GET /admin', { SecretKey: secretKey }, 403],
    ['GET /nowhere', {}, 404],
    ['GET /public/../admin', {}, 400],
    ['GET /public', { X_User_Id: 'admin' }, 403],
  ]
  for (const [line, fields, status] of cases)
    t.equal(await passThrough(t, gateway, line, fields), status, line)
})

t.test('Traefik leaves every path of Gatehouse itself to the main listener', (t) => {
  const matchers = config.http.routers.gatehouse.rule.split(' || ').map((matcher) => {
    const [, kind = '', value = ''] = /^(Path|PathPrefix)\(`([^`]+)`\)$/.exec(matcher) ?? []
    t.ok(value, matcher)
    return (path: string) => (kind === 'Path' ? path === value : path.startsWith(value))
  })
  for (const path of ownPaths)
    t.ok(
      matchers.some((matches) => matches(path)),
      path,
    )
  for (const path of ['/', '/orders', '/api/v1/orders'])
    t.notOk(
      matchers.some((matches) => matches(path)),
      path,
    )
  t.end()
})
