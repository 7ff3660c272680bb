import t from 'tap'
import { createCarriers } from '#identity/carriers.ts'
import { createProxyRoute, toRouteInput } from '#library/fastify/proxy/proxy-options.ts'

const options = { upstream: 'http://127.0.0.1:3000', prefix: '/orders', auth: 'any' } as const

t.test('rules for paths and answers are those of a route, a closed prefix is none', async (t) => {
  const rules = {
    rewrite: '/api',
    responseHeaders: { set: { 'X-A': 'b' }, remove: ['Server'] },
    emptySegments: 'pass',
  } as const
  t.match(toRouteInput({ ...options, ...rules }).route, { path: '/orders', ...rules })
  // The casts are what a caller without types may do.
  const ofGateway = { ...options, costField: 'a', includeUsage: true } as typeof options
  t.throws(() => toRouteInput(ofGateway), /includeUsage: is not supported in an app/)
  t.throws(() => toRouteInput({ ...options, auth: 'deny' as 'any' }), /auth: deny is not supported in an app/)
})

t.test('problems have the names that the app has given', async (t) => {
  const create = (wrong: object) => () =>
    createProxyRoute(toRouteInput({ ...options, ...wrong }), createCarriers(['SecretKey']))
  t.throws(create({ prefix: 'orders' }), /^invalid config, 1 problem:\n {2}config {2}prefix: /)
  t.throws(create({ upstream: 'localhost:3000' }), /^invalid config, 1 problem:\n {2}config {2}upstream: /)
  t.throws(
    create({ upstream: undefined, auth: undefined }),
    /config {2}upstream: is missing\n {2}config {2}auth: /,
  )
})
