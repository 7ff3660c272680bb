import t, { type Test } from 'tap'
import { problemText } from '#config/problem.ts'
import { findWarnings } from '#config/warnings/find-warnings.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { minimalConfig, read } from '../config-fixtures.ts'

function warnings(t: Test, ...scopes: readonly (readonly string[])[]): readonly string[] {
  const [route] = minimalConfig.routes
  const routes = scopes.map((names, index) => ({
    ...route,
    name: `r${index}`,
    path: `/${index}`,
    scopes: names,
  }))
  const reading = read(t, { ...minimalConfig, routes })
  t.strictSame(reading.problems, [])
  return findWarnings(reading, createOwnPaths(reading.tree.portal), { env: {} }).map(
    ({ path, ...texts }) => `${path.join('.')}: ${problemText(texts)}`,
  )
}

t.test('a scope that differs from an earlier one only in case is warned of', async (t) => {
  const warning = 'route "r1" has the scope "Orders", which is not "orders": scopes are case-sensitive'
  t.strictSame(warnings(t, ['orders'], ['read', 'Orders'], ['orders']), [`routes.1.scopes.1: ${warning}`])
})

t.test('scopes spelt in one case only are not warned of', async (t) => {
  t.strictSame(warnings(t, ['Orders', 'orders:read'], ['Orders']), [])
})
