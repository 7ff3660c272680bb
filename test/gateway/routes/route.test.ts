import t from 'tap'
import { upstreamTarget } from '#gateway/routes/route.ts'
import { compileOne, targetOf } from './examples.ts'

t.test('without rewrite a target is forwarded as it was sent', async (t) => {
  const route = compileOne({ path: '/orders' })
  for (const sent of ['/orders', '/orders/', '/%6frders/%41?%zz=/../', '/orders/caf%c3%a9;v=1?']) {
    t.equal(upstreamTarget(route, targetOf(sent)), sent)
  }
  t.equal(upstreamTarget(route, targetOf('http://example.com/orders?a')), '/orders?a')
  t.equal(upstreamTarget(route, targetOf('http://example.com?a')), '/?a')
})

const stripped: readonly (readonly [path: string, sent: string, forwarded: string])[] = [
  ['/orders', '/orders', '/'],
  ['/orders', '/orders/', '/'],
  ['/orders', '/orders?a=b', '/?a=b'],
  ['/orders', '/orders/?a=b', '/?a=b'],
  ['/orders', '/orders/1/x', '/1/x'],
  ['/orders', '/orders/1/', '/1/'],
  ['/orders/', '/orders/1', '/1'],
  ['/orders', '/%6F%72%64%65%72%73/%31', '/%31'],
  ['/orders', '/orders/orders', '/orders'],
  ['/orders', 'http://example.com/orders/1?a', '/1?a'],
  ['/a/b/c', '/a/%62/c/d', '/d'],
  ['/a/b/c', '/a/%62/%63', '/'],
  ['/caf%c3%a9', '/caf%C3%A9/x', '/x'],
  ['/', '/', '/'],
  ['/', '/a?b', '/a?b'],
]

t.test('rewrite: / removes the segments of the prefix, however they are encoded', async (t) => {
  for (const [path, sent, forwarded] of stripped) {
    t.equal(upstreamTarget(compileOne({ path, rewrite: '' }), targetOf(sent)), forwarded, sent)
  }
})

t.test('rewrite leaves an encoded slash behind the prefix alone', async (t) => {
  const route = compileOne({ path: '/npm', rewrite: '', encodedSlash: 'pass' })
  t.equal(upstreamTarget(route, targetOf('/npm/@a%2fb')), '/@a%2fb')
  t.equal(upstreamTarget(route, targetOf('/npm/%2fb')), '/%2fb')
})

t.test('rewrite puts another path in place of the prefix, and keeps what follows', async (t) => {
  for (const [path, rewrite, sent, forwarded] of [
    ['/realtime/v1', '/socket', '/realtime/v1/x?y', '/socket/x?y'],
    ['/realtime/v1', '/socket', '/realtime/v1', '/socket'],
    ['/realtime/v1', '/socket', '/realtime/v1/', '/socket/'],
    ['/realtime/v1', '/socket', '/realtime/%761?a', '/socket?a'],
    ['/a', '/a/b', '/a/a', '/a/b/a'],
    ['/', '/base', '/', '/base/'],
    ['/', '/base', '/x?y', '/base/x?y'],
  ] as const)
    t.equal(upstreamTarget(compileOne({ path, rewrite }), targetOf(sent)), forwarded, sent)
})

t.test('a prefix that is replaced by itself is forwarded as it was sent', async (t) => {
  const route = compileOne({ path: '/orders', rewrite: '/orders' })
  t.equal(route.rewrite, undefined)
  t.equal(upstreamTarget(route, targetOf('/%6frders/1')), '/%6frders/1')
  t.equal(compileOne({ path: '/', rewrite: '' }).rewrite, undefined)
})
