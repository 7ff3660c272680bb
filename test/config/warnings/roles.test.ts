import t, { type Test } from 'tap'
import { problemText } from '#config/problem.ts'
import { findWarnings } from '#config/warnings/find-warnings.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { minimalConfig, read } from '../config-fixtures.ts'

function warnings(t: Test, ...roles: readonly (readonly string[])[]): readonly string[] {
  const [route] = minimalConfig.routes
  const routes = roles.map((names, index) => ({
    ...route,
    name: `r${index}`,
    path: `/${index}`,
    roles: names,
  }))
  const reading = read(t, { ...minimalConfig, routes })
  t.strictSame(reading.problems, [])
  return findWarnings(reading, createOwnPaths(reading.tree.portal), { env: {} }).map(
    ({ path, ...texts }) => `${path.join('.')}: ${problemText(texts)}`,
  )
}

const warning = (route: number, index: number, role: string, similar: string) =>
  `routes.${route}.roles.${index}: route "r${route}" has the role "${role}", which is not "${similar}": roles are case-sensitive`

t.test('a role that differs from one of the gateway only in case is warned of', async (t) => {
  t.strictSame(warnings(t, ['admin']), [warning(0, 0, 'admin', 'Admin')])
  t.strictSame(warnings(t, ['Admin', 'USER']), [warning(0, 1, 'USER', 'User')])
})

t.test('routes that spell one role in two cases are both warned of', async (t) => {
  t.strictSame(warnings(t, ['Editor'], ['editor']), [
    warning(0, 0, 'Editor', 'editor'),
    warning(1, 0, 'editor', 'Editor'),
  ])
})

t.test('roles spelt in one case only are not warned of', async (t) => {
  t.strictSame(warnings(t, ['Admin', 'User'], ['Editor'], ['Editor', 'Admin']), [])
})
