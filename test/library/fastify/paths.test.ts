import t from 'tap'
import { ask } from '../../gateway/support/ask.ts'
import { upgradeLines } from '../../gateway/support/web-socket.ts'
import { ambiguous, malformed, sameAsAdmin } from '../../security/support/confusing-paths.ts'
import { startBackend } from '../../setup/backend.ts'
import { startProxy } from './start-proxy.ts'

t.test('no spelling of a path reaches a backend that another prefix protects', async (t) => {
  const backend = await startBackend(t)
  const open = { upstream: backend.url, auth: 'none' } as const
  const { url, createAccount } = await startProxy(t, [
    { ...open, prefix: '/' },
    { ...open, prefix: '/public', websocket: true },
    { ...open, prefix: '/pass', encodedSlash: 'pass' },
    { ...open, prefix: '/strip', encodedSlash: 'pass', stripPrefix: true },
    { ...open, prefix: '/admin', auth: 'any', roles: ['Admin'] },
  ])
  const { secretKey } = await createAccount({ role: 'Admin' })
  const key = `SecretKey: ${secretKey}`
  for (const target of [...ambiguous, ...malformed]) {
    for (const line of [`GET ${target}`, `POST ${target}`])
      t.equal((await ask(t, url, line, [key])).status, 400, line)
    t.equal((await ask(t, url, `GET ${target}`, upgradeLines)).status, 400, `upgrade ${target}`)
  }
  for (const target of sameAsAdmin.filter((each) => each.startsWith('/')))
    t.equal((await ask(t, url, `GET ${target}`)).status, 401, target)
  for (const target of ['/Admin', '/ADMIN/x', '/admin%2Fx', '/admin;a=1/x', '/public%2F..%2Fadmin'])
    t.equal((await ask(t, url, `GET ${target}`)).status, 400, target)
  t.strictSame(backend.seen, [])
  for (const target of [
    '/public/a%20b',
    '/public/%7Euser',
    '/pass/a%2Fb',
    '/public/a?b=%2e%2e',
    "/public/{a}'|",
  ]) {
    t.equal((await ask(t, url, `GET ${target}`)).status, 200, target)
    t.equal(backend.last().url, target, 'it is forwarded as it was sent')
  }
})
