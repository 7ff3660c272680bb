import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { ask } from './support/ask.ts'
import { startNginxDav, startRadicale } from './support/small-dav-backends.ts'

const behindTls = { trustedProxies: ['127.0.0.1'], publicUrl: 'https://gateway.test' }
const files = { name: 'files', path: '/files', upstream: 'backend', auth: 'none', stripPrefix: true }

async function start(
  t: Test,
  url: string,
  route: Readonly<Record<string, unknown>>,
  upstream: Readonly<Record<string, unknown>> = {},
) {
  const upstreams = { backend: { targets: [{ url }], ...upstream } }
  const config = { upstreams, routes: [{ ...files, ...route }], ...behindTls }
  const gateway = await startGateway(t, { config })
  return (line: string, headers: readonly string[] = [], body?: string) =>
    ask(t, gateway.url, line, ['X-Forwarded-Proto: https', ...headers], body)
}

t.test('a Destination has the scheme and host of X-Forwarded-*, or what the route says', async (t) => {
  const backend = await startBackend(t)
  const target = new URL(backend.url).host
  for (const [destination, host, expected] of [
    [undefined, 'client', 'https://gateway.test/y?a=b'],
    ['forwarded', 'client', 'https://gateway.test/y?a=b'],
    ['forwarded', 'target', 'https://gateway.test/y?a=b'],
    ['public', 'client', 'https://gateway.test/files/y?a=b'],
    ['public', 'target', 'https://gateway.test/files/y?a=b'],
    ['target', 'client', 'http://gateway.test/y?a=b'],
    ['target', 'target', `http://${target}/y?a=b`],
  ] as const) {
    const send = await start(t, backend.url, destination === undefined ? {} : { destination }, { host })
    for (const sent of ['https://gateway.test/files/y?a=b', '/files/y?a=b']) {
      t.equal((await send('MOVE /files/x', [`Destination: ${sent}`])).status, 200)
      const { headers } = backend.last()
      t.equal(headers.destination, expected, `${destination}, host: ${host}`)
      t.match(headers, { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'gateway.test' })
    }
  }
})

t.test('a Destination is of the host that a trusted proxy names, and below what it stripped', async (t) => {
  const backend = await startBackend(t)
  const outer = ['X-Forwarded-Host: files.test', 'X-Forwarded-Prefix: /outer']
  for (const [destination, expected] of [
    ['forwarded', 'https://files.test/y'],
    ['public', 'https://files.test/outer/files/y'],
  ]) {
    const send = await start(t, backend.url, { destination })
    const sent = 'Destination: https://files.test/files/y'
    t.equal((await send('MOVE /files/x', [...outer, sent])).status, 200)
    t.match(backend.last().headers, { destination: expected, 'x-forwarded-prefix': '/outer/files' })
    t.equal(
      (await send('MOVE /files/x', [...outer, 'Destination: https://gateway.test/files/y'])).status,
      403,
    )
  }
})

t.test('nginx copies and moves files behind TLS and a stripped prefix', async (t) => {
  const backend = await startNginxDav(t)
  const send = await start(t, backend.url, { destination: 'target' })
  t.equal((await send('PUT /files/x.txt', [], 'hello')).status, 201)
  const to = (name: string) => [`Destination: https://gateway.test/files/${name}`]
  t.equal((await send('COPY /files/x.txt', to('y.txt'))).status, 204)
  t.equal((await send('MOVE /files/x.txt', to('z.txt'))).status, 204)
  for (const name of ['y.txt', 'z.txt']) t.equal(readFileSync(join(backend.files, name), 'utf8'), 'hello')
  t.notOk(existsSync(join(backend.files, 'x.txt')))
})

const event = `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//EN
BEGIN:VEVENT
UID:one
DTSTAMP:20260101T000000Z
DTSTART:20260101T000000Z
SUMMARY:hello
END:VEVENT
END:VCALENDAR
`.replaceAll('\n', '\r\n')

t.test('Radicale moves an event, as it knows the prefix that is stripped before it', async (t) => {
  const backend = await startRadicale(t)
  const headers = { set: { 'X-Script-Name': '/files' } }
  const send = await start(t, backend.url, { destination: 'public' }, { headers })
  t.equal((await send('MKCOL /files/me/')).status, 201)
  for (const name of ['a', 'b']) t.equal((await send(`MKCALENDAR /files/me/${name}/`)).status, 201)
  t.equal((await send('PUT /files/me/a/one.ics', ['Content-Type: text/calendar'], event)).status, 201)
  const to = (path: string) => [`Destination: https://gateway.test${path}`]
  t.equal((await send('MOVE /files/me/a/one.ics', to('/files/me/b/one.ics'))).status, 201)
  t.match(await send('GET /files/me/b/one.ics'), { status: 200, body: /SUMMARY:hello/ })
  t.equal((await send('GET /files/me/a/one.ics')).status, 404)
})
