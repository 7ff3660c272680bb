import t, { type Test } from 'tap'
import { findTakenAuthorization } from '#config/warnings/routes.ts'
import { type Options, read, withRoute } from '../config-fixtures.ts'

function warnings(t: Test, options: Options, accept = ['SecretKey', 'bearer', 'basic']): readonly string[] {
  const { tree, problems } = read(t, { ...withRoute(options), keys: { accept } })
  t.strictSame(problems, [])
  return findTakenAuthorization(tree).map(({ path, message }) => `${path.join('.')}: ${message}`)
}

t.test('a public route that drops from Authorization what looks like a key is warned of', async (t) => {
  const dropped = (carriers: string) =>
    `routes.0.auth: route "all" is public, but an Authorization that looks like a key is dropped, as keys.accept has ${carriers}. If it is for the backend, set authorization: backend`
  t.strictSame(warnings(t, { auth: 'none' }), [dropped('bearer and basic')])
  t.strictSame(warnings(t, { auth: 'none' }, ['SecretKey', 'basic']), [dropped('basic')])
  t.strictSame(warnings(t, { auth: 'none' }, ['SecretKey']), [], 'nothing is dropped')
  t.strictSame(warnings(t, { auth: 'none', forwardCredentials: true }), [], 'nothing is dropped')
  t.strictSame(warnings(t, { auth: 'none', authorization: 'backend' }), [])
  t.strictSame(warnings(t, { auth: 'any' }), [])
})

t.test('a route that hands its backend what callers sign in with is warned of', async (t) => {
  const handed =
    'routes.0.forwardCredentials: route "all" gives the backend the credentials of its callers. If only Authorization is for the backend, set authorization: backend instead: callers then send their key in another header'
  for (const auth of ['any', 'secretKey', 'optional', 'bearer'])
    t.strictSame(warnings(t, { auth, forwardCredentials: true }), [handed], auth)
  t.strictSame(warnings(t, { auth: 'any', forwardCredentials: true, authorization: 'backend' }), [])
})
