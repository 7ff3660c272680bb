import t, { type Test } from 'tap'
import { problemText } from '#config/problem.ts'
import { findWarnings } from '#config/warnings/find-warnings.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { type Options, read, withRoute } from '../config-fixtures.ts'

function warnings(t: Test, route: Options): readonly string[] {
  const reading = read(t, withRoute({ auth: 'any', ...route }))
  t.strictSame(reading.problems, [])
  return findWarnings(reading, createOwnPaths(reading.tree.portal), { env: {} }).map(
    ({ path, ...texts }) => `${path.join('.')}: ${problemText(texts)}`,
  )
}

t.test('stripPrefix without a prefix is warned of', async (t) => {
  t.strictSame(warnings(t, { path: '/', stripPrefix: true }), [
    'routes.0.stripPrefix: route "all" has no prefix to strip: leave it out',
  ])
  t.strictSame(warnings(t, { path: '/a', stripPrefix: true }), [])
  t.strictSame(warnings(t, { path: '/' }), [])
})

t.test('stripPrefix before a WebDAV server that lists paths is warned of', async (t) => {
  const methods = ['GET', 'PROPFIND']
  t.strictSame(warnings(t, { path: '/files', stripPrefix: true, methods }), [
    'routes.0.stripPrefix: WebDAV listings on route "all" have the paths of the backend, without /files, which clients cannot find: let the backend serve /files itself',
  ])
  t.strictSame(warnings(t, { path: '/files', methods }), [])
  t.strictSame(warnings(t, { path: '/files', stripPrefix: true, methods: ['GET', 'MOVE'] }), [])
})

t.test('a path that looks like a pattern is warned of', async (t) => {
  for (const path of ['/(a)', '/a(', '/a+', '/a$', '/$metadata'])
    t.strictSame(warnings(t, { path }), [
      `routes.0.path: route "all" matches only requests that begin with ${path}: paths are literal prefixes, and ( ) $ + stand for themselves`,
    ])
  for (const path of ['/a.b', '/~a', '/a:b', '/a,b', "/a'b", '/a=b', '/@a', '/a!', '/a&b'])
    t.strictSame(warnings(t, { path }), [], path)
})

t.test('a rewrite of a path by itself is warned of', async (t) => {
  for (const rewrite of ['/a', '/a/'])
    t.strictSame(warnings(t, { path: '/a', rewrite }), [
      'routes.0.rewrite: route "all" replaces /a by itself: leave it out',
    ])
  t.strictSame(warnings(t, { path: '/a', rewrite: '/b' }), [])
  t.strictSame(warnings(t, { path: '/', rewrite: '/b' }), [])
  t.match(warnings(t, { path: '/a', rewrite: '/b', methods: ['PROPFIND'] }), [/routes\.0\.rewrite: WebDAV/])
})

t.test('Strict-Transport-Security over http is warned of', async (t) => {
  const responseHeaders = { set: { 'strict-transport-security': 'max-age=1' } }
  t.strictSame(warnings(t, { path: '/a', responseHeaders }), [
    'routes.0.responseHeaders.set.strict-transport-security: route "all" sets it, but publicUrl is http, where browsers ignore it: set the https URL as publicUrl',
  ])
  t.strictSame(warnings(t, { path: '/a', responseHeaders: { remove: ['Strict-Transport-Security'] } }), [])
})
