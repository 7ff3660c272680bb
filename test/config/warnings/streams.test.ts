import t, { type Test } from 'tap'
import { findWarnings } from '#config/warnings/find-warnings.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { type Options, read, withRoute } from '../config-fixtures.ts'

function warnings(t: Test, options: Options): readonly string[] {
  const reading = read(t, { ...withRoute({ auth: 'any' }), ...options })
  t.strictSame(reading.problems, [])
  return findWarnings(reading, createOwnPaths(reading.tree.portal), { env: {} })
    .filter(({ message }) => message.includes('limits.streams'))
    .map(({ path }) => path.join('.'))
}

t.test('an upstream that takes no more requests than one client may have open is warned of', async (t) => {
  const upstreams = (connections?: number) => ({
    upstreams: {
      backend: { targets: [{ url: 'http://127.0.0.1:3000' }], ...(connections && { connections }) },
    },
  })
  const place = ['upstreams.backend.connections']
  t.strictSame(warnings(t, upstreams()), [], 'the defaults')
  t.strictSame(warnings(t, { ...upstreams(101) }), [])
  t.strictSame(warnings(t, { ...upstreams(100) }), place)
  t.strictSame(warnings(t, { ...upstreams(1) }), place)
  t.strictSame(warnings(t, { ...upstreams(100), limits: { streams: 99 } }), [])
  t.strictSame(warnings(t, { ...upstreams(), limits: { streams: 10_000 } }), place)
  t.strictSame(warnings(t, { ...upstreams(1), listen: { http2: false } }), [])
})
