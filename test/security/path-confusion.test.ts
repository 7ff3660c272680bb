import t from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { assertProblem, assertRefused } from '../gateway/support/problem.ts'
import { upgradeLines } from '../gateway/support/web-socket.ts'
import { startBoth } from '../setup/both.ts'
import { isApp } from '../setup/gateway.ts'
import { ambiguous, malformed, sameAsAdmin } from './support/confusing-paths.ts'

const route = { upstream: 'backend', auth: 'none' }
const routes = [
  { ...route, name: 'all', path: '/' },
  { ...route, name: 'public', path: '/public', websocket: true },
  { ...route, name: 'pass', path: '/pass', encodedSlash: 'pass' },
  { ...route, name: 'strip', path: '/strip', encodedSlash: 'pass', stripPrefix: true },
  { ...route, name: 'admin', path: '/admin', auth: 'any', roles: ['Admin'] },
]

/** Fastify's router takes no target of absolute form. */
const isRouted = (target: string) => !isApp() || target.startsWith('/')
/** http-proxy refuses what begins with two dots, once it has decoded it. */
const isRefusedByHttpProxy = (target: string) => isApp() && /\/(?:\.|%2e){2}[^;]/i.test(target)

t.test('no spelling of a path reaches what another route protects', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  const { secretKey } = await gateway.createAccount({ role: 'Admin' })
  const key = `SecretKey: ${secretKey}`

  t.test('a path that could be read in two ways is refused, for everybody', async (t) => {
    for (const target of ambiguous) {
      for (const line of [`GET ${target}`, `POST ${target}`]) {
        const response = await ask(t, gateway.url, line, [key])
        t.equal(response.status, 400, line)
        assertRefused(t, response, { status: 400, code: 'path-ambiguous' })
      }
    }
    for (const target of [...ambiguous, ...malformed]) {
      t.equal((await ask(t, gateway.url, `GET ${target}`, [key])).status, 400, target)
      t.equal((await ask(t, gateway.url, `GET ${target}`, upgradeLines)).status, 400, `upgrade ${target}`)
    }
    t.equal(backend.seen.length, 0)
  })

  t.test('encodedSlash: pass lets no dot segment through', async (t) => {
    for (const place of ['/pass', '/strip']) {
      for (const rest of [
        '/..%2fadmin',
        '/%2e%2e%2fadmin',
        '/x%2f..%2fadmin',
        '/x%2f.%2fadmin',
        '/..%5cadmin',
        '/x%5c..%5Cadmin',
        '/x%2f..',
        '/x%2f..%3bx',
        '%2f..%2fadmin',
        '/%2e%2e',
        '/x%2F%2E%2E%2Fadmin',
        '/..%2f..%2f..%2fadmin',
      ]) {
        const response = await ask(t, gateway.url, `GET ${place}${rest}`)
        assertProblem(t, response, { status: 400, code: 'path-ambiguous' })
      }
    }
    t.equal(backend.seen.length, 0)
  })

  t.test('every spelling of a protected path is protected', async (t) => {
    for (const target of sameAsAdmin.filter(isRouted)) {
      const response = await ask(t, gateway.url, `GET ${target}`)
      t.equal(response.status, 401, target)
      t.equal(backend.seen.length, 0)
    }
    for (const target of sameAsAdmin.filter(isRouted))
      t.equal((await ask(t, gateway.url, `GET ${target}`, [key])).status, 200, target)
  })

  t.test('a doubly encoded dot segment stays encoded', async (t) => {
    for (const target of ['/public/%252e%252e/admin', '/public/..%252fadmin', '/pass/%252e%252e%2fadmin']) {
      if (isRefusedByHttpProxy(target)) continue
      t.equal((await ask(t, gateway.url, `GET ${target}`)).status, 200, target)
      t.equal(backend.last().url, target, 'it is forwarded as it was sent')
    }
  })

  t.test('unusual but harmless path names pass', async (t) => {
    for (const target of [
      '/public/...',
      '/public/..x',
      '/public/x..',
      '/public/.x',
      '/public/%2e%2ex',
      '/public/a.b;c',
    ].filter((target) => !isRefusedByHttpProxy(target)))
      t.equal((await ask(t, gateway.url, `GET ${target}`)).status, 200, target)
  })
})
