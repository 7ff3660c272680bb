import t from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { startBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'

/** Ways out of a folder that some server or other takes. */
const waysOut = [
  '/..',
  '/../',
  '/../secret',
  '/x/../../secret',
  '/%2e%2e/secret',
  '/.%2E/secret',
  '/..%2fsecret',
  '/..%5Csecret',
  '/%2e%2e%2fsecret',
  '/x%2f..%2f..%2fsecret',
  '/..;/secret',
  '/..;a=b/secret',
  '/..\\secret',
  '//secret',
  '/./secret',
  '/%252e%252e/secret',
]

t.test('no path of a client leads out of the base path of a target', async (t) => {
  const backend = await startBackend(t)
  const route = { upstream: 'backend', auth: 'none' }
  const gateway = await startGateway(t, {
    config: {
      upstreams: { backend: { targets: [{ url: `${backend.url}/base/app` }] } },
      routes: [
        { ...route, name: 'all', path: '/' },
        { ...route, name: 'stripped', path: '/stripped', stripPrefix: true, encodedSlash: 'pass' },
        { ...route, name: 'rewritten', path: '/rewritten', rewrite: '/deep/er', encodedSlash: 'pass' },
      ],
    },
  })
  for (const prefix of ['', '/stripped', '/rewritten'])
    for (const way of waysOut) {
      const before = backend.seen.length
      const { status } = await ask(t, gateway.url, `GET ${prefix}${way}`)
      const passed = backend.seen.slice(before).map(({ url }) => url)
      // Encoded twice they are no dots, for whoever decodes a path once.
      if (way.includes('%25')) t.match(passed, [/^\/base\/app\//], prefix + way)
      else t.strictSame({ status, passed }, { status: 400, passed: [] }, prefix + way)
    }
})

t.test('what a backend says of paths outside of its base path is not taken for one of its own', async (t) => {
  const backend = await startBackend(t, (request, response) => {
    response.writeHead(302, { Location: String(request.headers.to) }).end()
  })
  const gateway = await startGateway(t, { backend: `${backend.url}/base` })
  for (const [says, expected] of [
    ['/baseless', '/baseless'],
    ['/base/../secret', '/../secret'],
    ['//base/x', '//base/x'],
    ['https://evil.example/base/x', 'https://evil.example/base/x'],
    ['/base//evil.example/x', '/.//evil.example/x'],
    ['/base/\\evil.example', '/./\\evil.example'],
  ] as const) {
    const { headers } = await ask(t, gateway.url, 'GET /public/x', [`to: ${says}`])
    t.equal(headers.location, expected, says)
  }
})
