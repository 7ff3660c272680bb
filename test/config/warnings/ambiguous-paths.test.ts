import t, { type Test } from 'tap'
import { problemText } from '#config/problem.ts'
import { findAmbiguousPaths } from '#config/warnings/routes.ts'
import { load, minimalConfig, type Options } from '../config-fixtures.ts'

function warnings(t: Test, ...routes: readonly Options[]): readonly string[] {
  const named = routes.map((route, index) => ({
    name: `r${index}`,
    upstream: 'backend',
    auth: 'any',
    ...route,
  }))
  const config = load(t, { ...minimalConfig, routes: named })
  return findAmbiguousPaths(config).map(({ path, ...texts }) => `${path.join('.')}: ${problemText(texts)}`)
}

t.test('routes whose paths a backend may read alike are warned of, as neither gets requests', async (t) => {
  const found = warnings(t, { path: '/orders' }, { path: '/Orders/' }, { path: '/other' })
  t.equal(found.length, 2)
  t.match(
    found[0],
    /^routes\.0\.path: route "r0" is never used: .* \/orders and \/Orders of route "r1" .*caseSensitive/,
  )
  t.match(found[1], /^routes\.1\.path: route "r1" is never used/)
  t.equal(warnings(t, { path: '/@a' }, { path: '/%40a' }).length, 2, 'escapes are decoded')
  t.equal(
    warnings(t, { path: '/a', host: 'x.example' }, { path: '/A' }).length,
    2,
    'any host is this host too',
  )
})

t.test('routes with clearly distinct paths are not warned of', async (t) => {
  const sensitive = { caseSensitive: true }
  t.strictSame(warnings(t, { path: '/orders', ...sensitive }, { path: '/Orders', ...sensitive }), [])
  t.equal(warnings(t, { path: '/@a', ...sensitive }, { path: '/%40a', ...sensitive }).length, 2)
  t.strictSame(warnings(t, { path: '/a', host: 'x.example' }, { path: '/A', host: 'y.example' }), [])
  t.strictSame(warnings(t, { path: '/a', methods: ['GET'] }, { path: '/a', methods: ['POST'] }), [])
  t.strictSame(warnings(t, { path: '/a' }, { path: '/A/b' }), [])
})
