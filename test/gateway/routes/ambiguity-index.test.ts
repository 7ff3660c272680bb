import t, { type Test } from 'tap'
import type { RouteOptions } from '#gateway/routes/compile.ts'
import { tableOf, targetOf } from './examples.ts'

type Routes = readonly Partial<RouteOptions>[]

interface Asked {
  readonly host?: string
  readonly method?: string
}

function ask(routes: Routes, sent: string, { host = 'any.example', method = 'GET' }: Asked = {}): string {
  const match = tableOf(routes).match(host, targetOf(sent), method)
  return match.kind === 'route' ? match.route.name : match.kind
}

function assertAll(
  t: Test,
  routes: Routes,
  answer: string,
  paths: readonly string[],
  asked: Asked = {},
): void {
  for (const sent of paths) t.equal(ask(routes, sent, asked), answer, sent)
}

const orders = { name: 'orders', path: '/orders' }
const refunds = { name: 'refunds', path: '/orders/refunds' }
const nested: Routes = [orders, refunds]

t.test('a path that differs from another route only in case is refused', async (t) => {
  const others = [
    '/orders/Refunds',
    '/orders/REFUNDS/1',
    '/orders/refundS?x',
    '/Orders/refunds',
    '/orders/%52efunds',
  ]
  assertAll(t, nested, 'ambiguous', others)
  assertAll(t, nested, 'orders', [
    '/orders',
    '/orders/',
    '/orders/Refund',
    '/orders/Refundsx',
    '/orders/1/Refunds',
  ])
  assertAll(t, nested, 'refunds', ['/orders/refunds', '/orders/refunds/A', '/orders/refunds/Refunds'])
  assertAll(t, nested, 'ambiguous', ['/Orders', '/ORDERS/1'])
  assertAll(t, nested, 'none', ['/Order', '/X'])
})

t.test('a route with capitals in its path is reached by exactly that path', async (t) => {
  const routes: Routes = [
    { name: 'root', path: '/' },
    { name: 'api', path: '/Api/V1' },
  ]
  assertAll(t, routes, 'api', ['/Api/V1', '/Api/V1/x', '/Api/V1/X'])
  assertAll(t, routes, 'ambiguous', ['/api/v1', '/api/V1/x', '/API/V1'])
  assertAll(t, routes, 'root', ['/api', '/Api', '/API/V2'])
})

t.test("a route whose path extends another's in other case keeps its own paths", async (t) => {
  const routes: Routes = [
    { name: 'upper', path: '/API' },
    { name: 'deep', path: '/api/v1' },
  ]
  assertAll(t, routes, 'upper', ['/API', '/API/x', '/API/v2'])
  assertAll(t, routes, 'deep', ['/api/v1', '/api/v1/X'])
  assertAll(t, routes, 'ambiguous', ['/API/v1', '/API/V1/x', '/api', '/api/V1'])
})

t.test('routes differing only in case are refused unless their backends are case-sensitive', async (t) => {
  const routes: Routes = [orders, { name: 'upper', path: '/Orders' }]
  assertAll(t, routes, 'ambiguous', ['/orders', '/Orders', '/orders/1', '/ORDERS'])
  const sensitive = routes.map((route) => ({ ...route, caseSensitive: true }))
  assertAll(t, sensitive, 'orders', ['/orders', '/orders/1'])
  assertAll(t, sensitive, 'upper', ['/Orders', '/Orders/1'])
  assertAll(t, sensitive, 'none', ['/ORDERS'])
})

t.test('caseSensitive allows other case, but neither parameters nor escapes', async (t) => {
  const routes: Routes = [{ ...orders, caseSensitive: true }, refunds]
  assertAll(t, routes, 'orders', [
    '/orders/Refunds',
    '/orders/REFUNDS/1',
    '/orders/Refunds;x',
    '/orders/x%2FRefunds',
  ])
  assertAll(t, routes, 'ambiguous', [
    '/orders/refunds;x',
    '/orders%2Frefunds',
    '/orders;x/refunds',
    '/orders/%2Frefunds',
  ])
})

t.test('the route that takes the method says whether its backend folds case', async (t) => {
  const routes: Routes = [
    { ...orders, name: 'read', methods: ['GET'], caseSensitive: true },
    { ...orders, name: 'write', methods: ['POST'] },
    refunds,
  ]
  t.equal(ask(routes, '/orders/Refunds'), 'read')
  t.equal(ask(routes, '/orders/Refunds', { method: 'POST' }), 'ambiguous')
  t.equal(ask(routes, '/orders/Refunds', { method: 'PUT' }), 'ambiguous')
})

t.test('an ambiguous path is refused even if the other route does not take the method', async (t) => {
  const routes: Routes = [orders, { ...refunds, methods: ['POST'] }]
  assertAll(t, routes, 'ambiguous', ['/orders/Refunds', '/orders/refunds;x', '/orders%2Frefunds'])
})

t.test('readings of a path are compared with the routes of its host only', async (t) => {
  const routes: Routes = [
    orders,
    { ...refunds, host: 'api.example' },
    { name: 'web', path: '/orders', host: 'www.example' },
  ]
  for (const path of ['/orders/Refunds', '/orders/%2Frefunds', '/orders/refunds;x']) {
    assertAll(t, routes, 'ambiguous', [path], { host: 'api.example' })
    assertAll(t, routes, 'orders', [path], { host: 'other.example' })
    assertAll(t, routes, 'web', [path], { host: 'www.example' })
  }
  const shadowed: Routes = [orders, { name: 'own', path: '/Orders', host: 'api.example' }]
  assertAll(t, shadowed, 'ambiguous', ['/orders', '/Orders'], { host: 'api.example' })
  assertAll(t, shadowed, 'orders', ['/orders'], { host: 'other.example' })
  const same: Routes = [orders, { ...orders, name: 'own', host: 'api.example' }, refunds]
  assertAll(t, same, 'own', ['/orders/1', '/orders/A'], { host: 'api.example' })
})

t.test('an encoded slash passes unless its decoded path belongs to another route', async (t) => {
  for (const encodedSlash of ['auto', 'pass'] as const) {
    const routes: Routes = [
      { ...orders, encodedSlash },
      { ...refunds, encodedSlash },
    ]
    assertAll(t, routes, 'orders', [
      '/orders/a%2Fb',
      '/orders/a%5Cb',
      '/orders/1%2Frefunds',
      '/orders/@a%2fb',
    ])
    assertAll(t, routes, 'refunds', ['/orders/refunds/a%2Fb', '/orders/refunds/x%5Cb'])
    assertAll(t, routes, 'ambiguous', [
      '/orders%2Frefunds',
      '/orders/%2frefunds',
      '/orders%5Crefunds',
      '/orders/refunds%2Fx',
    ])
  }
  assertAll(t, [{ ...orders, encodedSlash: 'reject' }], 'ambiguous', ['/orders/a%2Fb', '/orders/a%5Cb'])
})

t.test('case, parameters and encoded slashes together hide no route', async (t) => {
  assertAll(t, nested, 'ambiguous', [
    '/Orders%2frefunds;x',
    '/orders%2FRefunds;x',
    '/orders;x%2Frefunds',
    '/orders;x%2FREFUNDS;y/z',
    '/orders%3Bx%5CRefunds',
    '/orders/;x%2FRefunds',
    '/ord%65rs/%2F%52efunds%3b',
  ])
})

t.test('percent-encoded letters beyond ASCII are case-folded too', async (t) => {
  const routes: Routes = [
    orders,
    { name: 'cafe', path: '/orders/caf%C3%A9' },
    { name: 'kilo', path: '/orders/kilo' },
  ]
  assertAll(t, routes, 'cafe', ['/orders/caf%C3%A9', '/orders/caf%c3%a9'])
  assertAll(t, routes, 'ambiguous', [
    '/orders/caf%C3%89',
    '/orders/CAF%C3%89',
    '/orders/cafe%CC%81',
    '/orders/caf%E9',
  ])
  assertAll(t, routes, 'ambiguous', ['/orders/%E2%84%AAilo', '/orders/Kilo'])
  assertAll(t, routes, 'orders', ['/orders/cafe', '/orders/caf%C3%A8'])
})

t.test('an escape in a path neither hides a route nor reaches another', async (t) => {
  const routes: Routes = [
    orders,
    { name: 'me', path: '/orders/@me' },
    { name: 'you', path: '/orders/%40you' },
  ]
  assertAll(t, routes, 'me', ['/orders/@me'])
  assertAll(t, routes, 'you', ['/orders/%40you'])
  assertAll(t, routes, 'ambiguous', ['/orders/%40me', '/orders/%40Me', '/orders/@you'])
  t.equal(
    ask([orders, { ...refunds, path: '/orders/~me' }], '/orders/%7Eme'),
    'refunds',
    'unreserved: the same path',
  )
})

t.test("an ambiguous path's refusal names the other route", async (t) => {
  const match = tableOf(nested).match('any.example', targetOf('/orders/Refunds'), 'GET')
  t.match(match, { kind: 'ambiguous', reason: /"refunds" \(\/orders\/refunds\)/ })
})

t.test('a long path in odd spelling costs next to nothing to match', async (t) => {
  const table = tableOf(nested)
  const target = targetOf(`/orders/${'%2F;X'.repeat(3_000)}`)
  const start = performance.now()
  for (let turn = 0; turn < 20; turn++) table.match('any.example', target, 'GET')
  const tookMs = (performance.now() - start) / 20
  t.ok(tookMs < 20, `${tookMs} ms`)
})
