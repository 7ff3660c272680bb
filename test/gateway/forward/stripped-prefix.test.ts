import t from 'tap'
import { forwardedPrefix, readStrippedPrefix, withPrefix } from '#gateway/forward/stripped-prefix.ts'

const orders = { rewrite: '', prefix: '/orders' }

t.test('a route replaces a prefix where it is told to', async (t) => {
  t.strictSame(readStrippedPrefix(orders, [], false), { own: '/orders', replacement: '', outer: '' })
  t.equal(readStrippedPrefix({ ...orders, rewrite: undefined }, [], true), undefined)
})

t.test(
  'X-Forwarded-Prefix is the path that proxies stripped, in their order, if they are trusted',
  async (t) => {
    for (const [sent, expected] of [
      [[], '/orders'],
      [['/outer'], '/outer/orders'],
      [['/outer/'], '/outer/orders'],
      [['/'], '/orders'],
      [[''], '/orders'],
      [['/a', '/b'], '/a/b/orders'],
      [['/a, /b/'], '/a/b/orders'],
      [['/a%20b'], '/a%20b/orders'],
    ] as const) {
      const headers = sent.flatMap((value) => ['x-forwarded-PREFIX', value])
      const prefix = readStrippedPrefix(orders, headers, true)
      t.equal(prefix && forwardedPrefix(prefix), expected, sent.join(' | '))
      const untrusted = readStrippedPrefix(orders, headers, false)
      t.equal(untrusted && forwardedPrefix(untrusted), '/orders')
    }
  },
)

t.test('of a trusted X-Forwarded-Prefix that is no plain path, nothing is taken', async (t) => {
  for (const value of [
    'outer',
    '//evil.example',
    '/a, //evil.example',
    'https://evil.example',
    '/..',
    '/a/../b',
    '/a/%2e%2e/b',
    '/a\\b',
    '/a%2Fb',
    '/a;x',
    '/a b',
    '/a?b',
    '/a#b',
    '/a"b',
    '/caf\xe9',
    '/a%',
  ]) {
    const prefix = readStrippedPrefix(
      orders,
      ['X-Forwarded-Prefix', '/good', 'X-Forwarded-Prefix', value],
      true,
    )
    t.strictSame(prefix, { own: '/orders', replacement: '', outer: '' }, value)
  }
})

t.test('a path gets the prefix back once', async (t) => {
  const own = { own: '/orders', replacement: '', outer: '' }
  const both = { own: '/orders', replacement: '', outer: '/outer' }
  for (const [path, expected, expectedBoth] of [
    ['/', '/orders/', '/outer/orders/'],
    ['/x?y#z', '/orders/x?y#z', '/outer/orders/x?y#z'],
    ['/ordersX', '/orders/ordersX', '/outer/orders/ordersX'],
    // Of a backend that knows its place.
    ['/orders', '/orders', '/outer/orders'],
    ['/orders/x', '/orders/x', '/outer/orders/x'],
    ['/orders?x', '/orders?x', '/outer/orders?x'],
    ['/orders#x', '/orders#x', '/outer/orders#x'],
    ['/outer/orders/x', '/orders/outer/orders/x', '/outer/orders/x'],
  ] as const) {
    t.equal(withPrefix(path, own), expected)
    t.equal(withPrefix(path, both), expectedBoth)
  }
})

t.test('a path below what stands in place of the prefix gets the prefix, others stay', async (t) => {
  const own = { own: '/realtime/v1', replacement: '/socket', outer: '' }
  const both = { ...own, outer: '/outer' }
  for (const [path, expected, expectedBoth] of [
    ['/socket', '/realtime/v1', '/outer/realtime/v1'],
    ['/socket/', '/realtime/v1/', '/outer/realtime/v1/'],
    ['/socket/x?y', '/realtime/v1/x?y', '/outer/realtime/v1/x?y'],
    ['/socket?y', '/realtime/v1?y', '/outer/realtime/v1?y'],
    ['/sockets/x', '/sockets/x', '/sockets/x'],
    ['/', '/', '/'],
    ['/realtime/v1/x', '/realtime/v1/x', '/outer/realtime/v1/x'],
    // Of a backend that puts X-Forwarded-Prefix before its own path.
    ['/realtime/v1/socket/x', '/realtime/v1/x', '/outer/realtime/v1/x'],
    ['/outer/realtime/v1/socket/x', '/outer/realtime/v1/socket/x', '/outer/realtime/v1/x'],
  ] as const) {
    t.equal(withPrefix(path, own), expected, path)
    t.equal(withPrefix(path, both), expectedBoth, path)
  }
  const below = { own: '/v1', replacement: '/v1/api', outer: '' }
  t.equal(withPrefix('/v1/api/x', below), '/v1/x', 'the path of the backend itself')
  const base = { own: '', replacement: '/base', outer: '' }
  for (const [path, expected] of [
    ['/base', '/'],
    ['/base?x', '/?x'],
    ['/base/x', '/x'],
    ['/x', '/x'],
  ] as const)
    t.equal(withPrefix(path, base), expected)
})
