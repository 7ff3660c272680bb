import t, { type Test } from 'tap'
import { problemText } from '#config/problem.ts'
import { findWarnings } from '#config/warnings/find-warnings.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { read, withRoute } from '../config-fixtures.ts'

function warningsOf(t: Test, section: 'accessCookie' | 'cookie', config: object): readonly string[] {
  const reading = read(t, { ...withRoute({ auth: 'any' }), ...config })
  t.strictSame(reading.problems, [])
  return findWarnings(reading, createOwnPaths(reading.tree.portal), { env: {} })
    .map(({ path, ...texts }) => `${path.join('.')}: ${problemText(texts)}`)
    .filter((line) => line.startsWith(section))
}

function warnings(t: Test, accessCookie: object, publicUrl = 'https://app.example.com'): readonly string[] {
  return warningsOf(t, 'accessCookie', { publicUrl, accessCookie })
}

t.test('an access cookie that other hosts of the domain can set is warned of', async (t) => {
  t.strictSame(warnings(t, { enabled: true }), [
    'accessCookie.name: other hosts of the domain can set a cookie of this name: "__Host-accessToken" rules that out',
  ])
  t.match(warnings(t, { enabled: true, name: '__Secure-at' }), [/"__Host-at" rules that out/])
  t.match(warnings(t, { enabled: true, path: '/app' }), [/"__Secure-accessToken" at least/])
  for (const accessCookie of [
    { enabled: false },
    { enabled: true, name: '__Host-at' },
    { enabled: true, name: '__Secure-at', path: '/app' },
  ])
    t.strictSame(warnings(t, accessCookie), [], JSON.stringify(accessCookie))
})

t.test('over plain HTTP no name is safer, and none is warned of', async (t) => {
  t.strictSame(warnings(t, { enabled: true }, 'http://localhost:8080'), [])
})

t.test('a path at which browsers do not send the refresh cookie to refresh-token is warned of', async (t) => {
  const own = '/api/v1/accounts'
  const ofPath = (path: string) => warningsOf(t, 'cookie', { cookie: { path } })
  for (const path of ['/', '/api', '/api/', '/api/v1', own, `${own}/`, `${own}/refresh-token`])
    t.strictSame(ofPath(path), [], path)
  for (const path of ['/auth', '/ap', '/API', '//', `${own}/revoke-token`, `${own}/refresh-token/x`])
    t.match(ofPath(path), [/^cookie\.path: is not at or above/], path)
})
