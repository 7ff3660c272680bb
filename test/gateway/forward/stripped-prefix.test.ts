import t from 'tap'
import { forwardedPrefix, readStrippedPrefix, withPrefix } from '#gateway/forward/stripped-prefix.ts'

const orders = { stripPrefix: true, prefix: '/orders' }

t.test('a route strips a prefix where it is told to, and has one', async (t) => {
  t.strictSame(readStrippedPrefix(orders, [], false), { own: '/orders', outer: '' })
  t.equal(readStrippedPrefix({ ...orders, stripPrefix: false }, [], true), undefined)
  t.equal(
    readStrippedPrefix({ stripPrefix: true, prefix: '' }, ['X-Forwarded-Prefix', '/outer'], true),
    undefined,
  )
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
    t.strictSame(prefix, { own: '/orders', outer: '' }, value)
  }
})

t.test('a path gets the prefix back once', async (t) => {
  const own = { own: '/orders', outer: '' }
  const both = { own: '/orders', outer: '/outer' }
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
