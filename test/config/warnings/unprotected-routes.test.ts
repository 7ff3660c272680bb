import t, { type Test } from 'tap'
import { problemText } from '#config/problem.ts'
import { findUnprotectedRoutes } from '#config/warnings/unprotected-routes.ts'
import { load, minimalConfig, type Options } from '../config-fixtures.ts'

const upstreams = { ...minimalConfig.upstreams, other: minimalConfig.upstreams.backend }

/** Messages by the index of their route; the routes are named r0, r1 and so on, and protected by default. */
function warnings(t: Test, ...routes: readonly Options[]): readonly string[] {
  const named = routes.map((route, index) => ({
    name: `r${index}`,
    path: '/',
    upstream: 'backend',
    auth: 'any',
    ...route,
  }))
  const config = load(t, { upstreams, routes: named })
  return findUnprotectedRoutes(config).map(({ path, ...texts }) => `${path.join('.')}: ${problemText(texts)}`)
}

const open = { auth: 'none' }
const optional = { auth: 'optional' }

t.test('routes of separate paths are not warned of', async (t) => {
  t.strictSame(warnings(t, { path: '/a' }, { path: '/ab', ...open }), [], 'whole segments only')
  t.strictSame(warnings(t, { path: '/a' }, { path: '/health', ...open }), [])
  t.strictSame(warnings(t, { path: '/a', ...open }, { path: '/a/b', ...open }), [])
  t.strictSame(warnings(t, { path: '/a' }, { path: '/a/b' }), [])
  t.strictSame(warnings(t, { path: '/a', ...open }, { path: '/a/b' }), [], 'a protected part of a public one')
})

t.test('a public catch-all route is warned of', async (t) => {
  const rest = 'that no other route matches: give it auth: any, or a longer path'
  t.strictSame(warnings(t, open), [
    `routes.0.auth: route "r0" is public and matches every path under / ${rest}`,
  ])
  t.strictSame(warnings(t, { ...open, host: 'www.example' }), [
    `routes.0.auth: route "r0" is public and matches every path under www.example/ ${rest}`,
  ])
  t.strictSame(warnings(t, optional), [], 'who says optional has thought of it')
})

t.test('a public route inside a protected one is warned of', async (t) => {
  const inside = (place: string, verb = 'is public') =>
    `routes.1.auth: route "r1" ${verb} inside the protected route "r0" (${place}): if that is not intended, give it the auth of "r0"`
  t.strictSame(warnings(t, { path: '/a' }, { path: '/a/b', ...open }), [inside('/a')])
  t.strictSame(warnings(t, { path: '/a/' }, { path: '/a/b', ...open }), [inside('/a')])
  t.strictSame(warnings(t, { path: '/' }, { path: '/a', ...open }), [inside('/')])
  t.strictSame(warnings(t, { path: '/a' }, { path: '/a/b', ...optional }), [
    inside('/a', 'allows anonymous requests'),
  ])
  t.strictSame(warnings(t, { path: '/a' }, { path: '/%61/b', host: 'www.example', ...open }), [inside('/a')])
  t.strictSame(warnings(t, { path: '/a', host: 'API.example' }, { path: '/a/b', ...open }), [inside('/a')])
  t.strictSame(
    warnings(t, { path: '/a', host: 'api.example' }, { path: '/a/b', host: 'www.example', ...open }),
    [],
    'another host is another place',
  )
})

t.test('a public route inside a protected one is not warned of where it changes nothing', async (t) => {
  const post = { methods: ['POST'] }
  t.strictSame(warnings(t, { path: '/a', methods: ['GET'] }, { path: '/a/b', ...open, ...post }), [])
  t.match(warnings(t, { path: '/a', ...post }, { path: '/a/b', ...open }), [/^routes\.1\.auth: .* inside/])
  const between = { path: '/a/b', ...open }
  const found = warnings(t, { path: '/a' }, between, { path: '/a/b/c', ...open })
  t.match(found, [/^routes\.1/], 'the one between is warned of, the one inside that is not')
})

t.test('a public route of one host that precedes a protected one of any host is warned of', async (t) => {
  t.strictSame(warnings(t, { path: '/a' }, { path: '/a', host: 'www.example', ...open }), [
    'routes.1.auth: route "r1" is public for host www.example, where it takes precedence over the protected route "r0": if that is not intended, give it the auth of "r0"',
  ])
  const root = warnings(t, { path: '/a' }, { path: '/', host: 'www.example', ...open })
  t.match(root, [/is public and matches every path/], 'a longer path of any host still comes first')
})

t.test('a backend protected on one host and public on every other is warned of', async (t) => {
  const rest = (path: string) =>
    `at ${path} of every host except api.example, where "r0" protects it: remove the host of "r0", or give "r1" one`
  const guarded = { path: '/a', host: 'api.example' }
  t.strictSame(warnings(t, guarded, { path: '/a', ...open }), [
    `routes.1.auth: route "r1" is public ${rest('/a')}`,
  ])
  t.match(warnings(t, guarded, open), [
    /matches every path/,
    `routes.1.auth: route "r1" is public ${rest('/a')}`,
  ])
  t.strictSame(warnings(t, guarded, optional), [
    `routes.1.auth: route "r1" allows anonymous requests ${rest('/a')}`,
  ])
  t.strictSame(warnings(t, guarded, { path: '/a', upstream: 'other', ...open }), [], 'another backend')
  t.strictSame(warnings(t, guarded, { path: '/a/b', upstream: 'other', host: 'www.example', ...open }), [])
  t.strictSame(
    warnings(t, guarded, { path: '/', ...optional }, { path: '/a' }),
    [],
    'any host is protected too',
  )
})

t.test('a public route for the other methods of a protected path is warned of', async (t) => {
  t.strictSame(warnings(t, { path: '/a', methods: ['POST', 'PUT'] }, { path: '/a', ...open }), [
    'routes.1.auth: route "r1" is public for every method except POST, PUT, beside the protected "r0": list the methods that may be public',
  ])
  t.strictSame(warnings(t, { path: '/a', methods: ['POST'] }, { path: '/a', methods: ['GET'], ...open }), [])
  t.strictSame(
    warnings(t, { path: '/a' }, { path: '/a', methods: ['GET'], ...open }),
    [],
    'who names it means it',
  )
})

t.test('a stripped prefix that leads around the protection of a backend is warned of', async (t) => {
  const strip = { stripPrefix: true }
  const around = (stripping: string) =>
    `routes.1.auth: route "r1" is public and reaches what "r0" protects at its backend, as "${stripping}" strips its prefix: give it the auth of "r0", or its own upstream`
  t.strictSame(warnings(t, { path: '/admin' }, { path: '/pub', ...strip, ...open }), [around('r1')])
  t.strictSame(warnings(t, { path: '/api', ...strip }, { path: '/pub', ...strip, ...open }), [around('r1')])
  t.match(warnings(t, { path: '/api', ...strip }, open), [/matches every path/, around('r0')])
  t.strictSame(
    warnings(t, { path: '/api', ...strip }, { path: '/health', ...open }),
    [],
    'a part that is named',
  )
  t.strictSame(warnings(t, { path: '/admin' }, { path: '/pub', upstream: 'other', ...strip, ...open }), [])
  const [get, post] = [{ methods: ['GET'] }, { methods: ['POST'] }]
  t.strictSame(warnings(t, { path: '/admin', ...post }, { path: '/pub', ...get, ...strip, ...open }), [])
})

t.test('a rewrite that leads around the protection of a backend is warned of', async (t) => {
  const around = (rewriting: string, how: string) =>
    `routes.1.auth: route "r1" is public and reaches what "r0" protects at its backend, as "${rewriting}" rewrites its prefix to ${how}: give it the auth of "r0", or its own upstream`
  t.strictSame(warnings(t, { path: '/admin' }, { path: '/pub', rewrite: '/admin', ...open }), [
    around('r1', '/admin'),
  ])
  t.strictSame(warnings(t, { path: '/api', rewrite: '/v1/admin' }, { path: '/v1', ...open }), [
    around('r0', '/v1/admin'),
  ])
  for (const rewrite of ['/admins', '/adm', '/admin/public', '/other'])
    t.strictSame(warnings(t, { path: '/admin' }, { path: '/pub', rewrite, ...open }), [], rewrite)
})

t.test('what refuses everybody else is no protection that a public route leads around', async (t) => {
  const deny = { path: '/', auth: 'deny' }
  t.strictSame(warnings(t, deny, { path: '/health', ...open }), [])
  t.strictSame(warnings(t, { ...deny, path: '/a', methods: ['POST'] }, { path: '/a', ...open }), [])
})

t.test('a replaced prefix that reaches what another route denies is warned of', async (t) => {
  const deny = { path: '/admin', auth: 'deny', upstream: undefined }
  const reopened = (index: number, place: string) =>
    `routes.${index}.path: route "r${index}" reaches by ${place} what "r1" closes at its backend: deny ${place} too`
  const api = { path: '/api', stripPrefix: true }
  t.strictSame(warnings(t, {}, deny, api), [reopened(2, '/api/admin')])
  t.strictSame(warnings(t, {}, deny, { path: '/x', rewrite: '/admin' }), [reopened(2, '/x')])
  t.strictSame(warnings(t, {}, { ...deny, path: '/admin/keys' }, { path: '/x', rewrite: '/admin/' }), [
    reopened(2, '/x/keys'),
  ])
  t.strictSame(warnings(t, {}, deny, { ...api, ...open }), [reopened(2, '/api/admin')], 'a public one, once')
  t.strictSame(warnings(t, {}, deny, api, { ...deny, path: '/api/admin' }), [], 'it is denied there, too')
  t.strictSame(warnings(t, {}, deny, { ...api, upstream: 'other' }), [], 'another backend')
  t.strictSame(warnings(t, { upstream: 'other' }, deny, api), [], 'what it closes is another backend')
  t.strictSame(warnings(t, deny, api), [], 'it closes nothing')
  t.strictSame(warnings(t, {}, deny, { path: '/x', rewrite: '/administration' }), [])
  t.strictSame(warnings(t, {}, { ...deny, methods: ['DELETE'] }, { ...api, methods: ['GET'] }), [])
})

t.test('wildcards are compared with the hosts that they stand for', async (t) => {
  const all = { path: '/a', host: '*.example.com' }
  t.match(warnings(t, all, { path: '/a/b', ...open }), [/for host .*|inside the protected route "r0"/])
  t.match(warnings(t, { path: '/a' }, { ...all, ...open }), [
    /for host any-other-host\.invalid\.example\.com, where/,
  ])
  t.match(warnings(t, { path: '/a', host: 'api.example.com' }, { ...all, ...open }), [
    /is public at \/a of every host of \*\.example\.com except api\.example\.com, where "r0" protects it/,
  ])
  t.strictSame(warnings(t, { path: '/a', host: 'other.test' }, { ...all, ...open }), [])
})
