import t from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { rawRequest } from '../setup/raw-client.ts'
import { ask } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

const route = { upstream: 'backend', auth: 'none' }

function hostLine(path: string, host: string): readonly string[] {
  return [`GET ${path} HTTP/1.1`, `Host: ${host}`]
}

t.test('the choice of a route', async (t) => {
  const urls: Record<string, { readonly targets: readonly { readonly url: string }[] }> = {}
  for (const name of ['root', 'orders', 'deep', 'hosted', 'hosted-deep', 'get', 'post']) {
    const backend = await startBackend(t, (request, response) => {
      response.setHeader('X-Backend', name).end(`${name} ${request.url}`)
    })
    urls[name] = { targets: [{ url: backend.url }] }
  }
  const gateway = await startGateway(t, {
    config: {
      upstreams: urls,
      routes: [
        { name: 'root', path: '/', upstream: 'root', auth: 'none' },
        { name: 'orders', path: '/orders', upstream: 'orders', auth: 'none' },
        { name: 'deep', path: '/orders/v2/items/', upstream: 'deep', auth: 'none', stripPrefix: true },
        { name: 'hosted', path: '/orders', host: 'API.example.com', upstream: 'hosted', auth: 'none' },
        { name: 'hosted-deep', path: '/orders/v2', host: '[::1]', upstream: 'hosted-deep', auth: 'none' },
        { name: 'get', path: '/split', methods: ['GET'], upstream: 'get', auth: 'none' },
        { name: 'post', path: '/split', methods: ['POST', 'DELETE'], upstream: 'post', auth: 'none' },
      ],
    },
  })
  const found = async (lines: readonly string[]) => (await rawRequest(t, gateway.url, lines)).body

  t.test('the longest prefix on whole segments wins, whatever the order of the routes', async (t) => {
    for (const [path, expected] of [
      ['/', 'root /'],
      ['/orders', 'orders /orders'],
      ['/orders/', 'orders /orders/'],
      ['/orders?x', 'orders /orders?x'],
      ['/orders/v2', 'orders /orders/v2'],
      ['/ordersx', 'root /ordersx'],
      ['/orders/1;x', 'orders /orders/1;x'],
      ['/orders/v2/itemsx', 'orders /orders/v2/itemsx'],
      ['/%6Frders/x', 'orders /%6Frders/x'],
      ['/x/orders', 'root /x/orders'],
    ] as const)
      t.equal(await found(hostLine(path, 'any.test')), expected)
    for (const path of ['/orders;x', '/Orders', '/%4Frders/1', '/orders%2Fv2']) {
      const answer = await found(hostLine(path, 'any.test'))
      t.match(answer, /path-ambiguous/, `a backend may read ${path} as one below /orders`)
    }
  })

  t.test('stripPrefix removes the prefix and nothing else', async (t) => {
    for (const [path, expected] of [
      ['/orders/v2/items', 'deep /'],
      ['/orders/v2/items/', 'deep /'],
      ['/orders/v2/items?x=/y', 'deep /?x=/y'],
      ['/orders/v2/items/7/%7E/', 'deep /7/%7E/'],
      ['/orders/%762/%69tems/7', 'deep /7'],
    ] as const)
      t.equal(await found(hostLine(path, 'any.test')), expected)
  })

  t.test('a route with a host wins over one without, whatever port and case', async (t) => {
    for (const host of ['api.example.com', 'API.EXAMPLE.COM', 'api.example.com:8443', 'Api.Example.Com:'])
      t.equal(await found(hostLine('/orders', host)), 'hosted /orders', host)
    for (const host of ['xapi.example.com', 'example.com', 'api.example.com.evil'])
      t.equal(await found(hostLine('/orders', host)), 'orders /orders', host)
    t.equal(await found(hostLine('/orders/v2', '[::1]:8080')), 'hosted-deep /orders/v2')
    t.equal(await found(hostLine('/orders/v2', 'api.example.com')), 'hosted /orders/v2')
    const absolute = ['GET http://other.test/orders HTTP/1.1', 'Host: api.example.com']
    t.equal(await found(absolute), 'hosted /orders', 'an absolute target is taken by its path')
  })

  t.test('routes of one path are distinguished by method, and GET includes HEAD', async (t) => {
    t.equal((await ask(t, gateway.url, 'GET /split')).body, 'get /split')
    t.equal((await ask(t, gateway.url, 'DELETE /split')).body, 'post /split')
    t.equal((await ask(t, gateway.url, 'HEAD /split')).headers['x-backend'], 'get')
    const response = await ask(t, gateway.url, 'PATCH /split')
    assertProblem(t, response, { status: 405, code: 'method-not-allowed' })
    t.equal(response.headers.allow, 'DELETE, GET, HEAD, POST')
  })
})

t.test('encodedSlash decides whether %2F and %5C pass, and they pass as sent', async (t) => {
  const routes = [
    { ...route, name: 'reject', path: '/reject', encodedSlash: 'reject' },
    { ...route, name: 'auto', path: '/auto' },
    { ...route, name: 'pass', path: '/pass', encodedSlash: 'pass' },
    { ...route, name: 'strip', path: '/strip', encodedSlash: 'pass', stripPrefix: true },
  ]
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  for (const name of ['@scope%2fname', '@scope%2Fname', 'a%5Cb', 'a%5cb']) {
    const refused = await ask(t, gateway.url, `GET /reject/${name}`)
    assertProblem(t, refused, { status: 400, code: 'path-ambiguous' })
    t.equal((await ask(t, gateway.url, `GET /pass/${name}`)).status, 200)
    t.equal(backend.last().url, `/pass/${name}`)
    t.equal((await ask(t, gateway.url, `GET /auto/${name}`)).status, 200)
    t.equal(backend.last().url, `/auto/${name}`)
    t.equal((await ask(t, gateway.url, `GET /strip/${name}/x`)).status, 200)
    t.equal(backend.last().url, `/${name}/x`)
  }
  t.equal((await ask(t, gateway.url, 'GET /reject/x?y=%2F')).status, 200, 'a query is not a path')
  const split = await ask(t, gateway.url, 'GET /pass%2Fx')
  assertProblem(t, split, { status: 400, code: 'path-ambiguous' })
  t.equal((await ask(t, gateway.url, 'GET /nowhere%2Fx')).status, 404)
})

t.test('the backend sees the Host of the client or its own, as configured', async (t) => {
  const backend = await startBackend(t)
  const targets = [{ url: backend.url }]
  const gateway = await startGateway(t, {
    config: {
      upstreams: { client: { targets }, target: { targets, host: 'target' } },
      routes: ['client', 'target'].map((name) => ({ name, path: `/${name}`, upstream: name, auth: 'none' })),
    },
  })
  await rawRequest(t, gateway.url, hostLine('/client', 'API.example.com:99'))
  t.equal(backend.last().headers.host, 'API.example.com:99')
  await rawRequest(t, gateway.url, hostLine('/target', 'API.example.com:99'))
  t.match(backend.last().headers, {
    host: new URL(backend.url).host,
    'x-forwarded-host': 'API.example.com:99',
  })
})
