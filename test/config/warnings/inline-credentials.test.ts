import t, { type Test } from 'tap'
import { problemText } from '#config/problem.ts'
import { findWarnings } from '#config/warnings/find-warnings.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { type Options, read, withUpstream } from '../config-fixtures.ts'

function warnings(t: Test, set: Options): readonly string[] {
  const reading = read(t, withUpstream({ headers: { set } }), { env: { A: 'abc' } })
  t.strictSame(reading.problems, [])
  return findWarnings(reading, createOwnPaths(reading.tree.portal), { env: {} }).map(
    ({ path, ...texts }) => `${path.join('.')}: ${problemText(texts)}`,
  )
}

t.test('a header of an upstream that looks like a credential is warned of where it is a text', async (t) => {
  const at = 'upstreams.backend.headers.set'
  const message =
    'looks like a credential, and everyone who reads the config can see it: use { file: … }, { env: … } or { credential: … }'
  for (const name of ['Authorization', 'cookie', 'SecretKey', 'X-Api-Key', 'X-Access-Token'])
    t.strictSame(warnings(t, { [name]: 'abc' }), [`${at}.${name}: ${message}`])
  t.strictSame(warnings(t, { 'X-Backend': 'Bearer abc' }), [`${at}.X-Backend: ${message}`])
  t.strictSame(warnings(t, { Authorization: { env: 'A' }, 'X-Gateway': 'abc', 'X-Author': 'Ada' }), [])
})
