import t, { type Test } from 'tap'
import { problemText } from '#config/problem.ts'
import { findWarnings } from '#config/warnings/find-warnings.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { type Options, read, withRoute } from '../config-fixtures.ts'

function warnings(t: Test, route: Options, more: Options = {}): readonly string[] {
  const reading = read(t, { ...withRoute({ path: '/v1', auth: 'any', ...route }), ...more })
  t.strictSame(reading.problems, [])
  return findWarnings(reading, createOwnPaths(reading.tree.portal), { env: {} })
    .filter(({ path }) => /^(?:cost|maxBody)/.test(String(path.at(-1))))
    .map(({ path, ...texts }) => `${path.join('.')}: ${problemText(texts)}`)
}

const costField = 'usage.total_tokens'

t.test('units that are counted for nobody are warned of', async (t) => {
  t.strictSame(warnings(t, { auth: 'none', costField }), [
    'routes.0.costField: route "all" is public, so its units are counted for nobody: leave it out',
  ])
  t.strictSame(warnings(t, { auth: 'none', costHeader: 'X-Cost' }), [], 'it is removed')
  t.strictSame(warnings(t, { auth: 'optional', costField }), [])
  t.strictSame(warnings(t, { costField, costHeader: 'X-Cost' }), [])
})

t.test('a cost in responses that the gateway does not see is warned of', async (t) => {
  const decide = { decide: { host: '127.0.0.1', port: 8081 } }
  for (const cost of [{ costField }, { costHeader: 'X-Cost' }])
    t.strictSame(warnings(t, { upstream: undefined, ...cost }, decide), [
      `routes.0.${Object.keys(cost)[0]}: route "all" has no upstream, so its responses are not seen: a request is one unit: leave it out`,
    ])
})

t.test('bodies that are too large to ask for their usage are warned of', async (t) => {
  const asking = { costField, includeUsage: true }
  t.strictSame(warnings(t, { ...asking, maxBody: '10MiB' }), [])
  t.strictSame(warnings(t, { costField, maxBody: '11MiB' }), [])
  for (const maxBody of ['11MiB', 'unlimited'])
    t.strictSame(warnings(t, { ...asking, maxBody }), [
      'routes.0.maxBody: route "all" accepts bodies that are too large for includeUsage: their streams are not asked for their usage, and count as one unit: set at most 10MiB',
    ])
})
