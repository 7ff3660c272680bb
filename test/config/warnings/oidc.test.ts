import t, { type Test } from 'tap'
import { problemText } from '#config/problem.ts'
import { findWarnings } from '#config/warnings/find-warnings.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { read, withRoute } from '../config-fixtures.ts'

function warnings(t: Test, provision: string, more: object = {}): readonly string[] {
  const oidc = { issuer: 'https://id.example.com', clientId: 'gatehouse', provision }
  const reading = read(t, { ...withRoute({ auth: 'any', roles: ['Reader'] }), portal: { oidc, ...more } })
  t.strictSame(reading.problems, [])
  return findWarnings(reading, createOwnPaths(reading.tree.portal), { env: {} }).map(
    ({ path, ...texts }) => `${path.join('.')}: ${problemText(texts)}`,
  )
}

t.test('a role for everybody at a provider that is probably not meant is warned of', async (t) => {
  for (const role of ['none', 'User', 'Reader', 'Other']) t.strictSame(warnings(t, role), [], role)
  t.match(warnings(t, 'Admin'), [/^portal\.oidc\.provision: makes everybody .* an Admin/])
  t.match(warnings(t, 'admin'), [/"admin" is not "Admin": it is case-sensitive/])
  t.match(warnings(t, 'reader'), [/"reader" is not "Reader"/])
  t.match(warnings(t, 'None'), [/"None" is not "none"/])
})

t.test('a provider without a portal is warned of', async (t) => {
  t.strictSame(warnings(t, 'Admin', { enabled: false }), [
    'portal.oidc: has no effect: portal.enabled is false',
  ])
})

t.test('each of several providers is looked at', async (t) => {
  const [first, second] = ['id', 'other'].map((name) => ({
    name,
    label: name,
    issuer: `https://${name}.example.com`,
    clientId: 'gatehouse',
  }))
  const oidc = [first, { ...second, provision: 'Admin' }]
  t.match(warnings(t, 'none', { oidc }), [/^portal\.oidc\.1\.provision: makes everybody .* an Admin/])
})
