import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { makeCertificate } from '../setup/certificates.ts'
import { until } from '../setup/net.ts'
import { connectRaw, rawRequest } from '../setup/raw-client.ts'
import { readMetrics } from './support/metrics.ts'
import { assertProblem } from './support/problem.ts'
import { reloadWith, taken } from './support/reload.ts'
import { certificateFiles } from './support/tls.ts'

// A listener of the program: an app has its own.

const publicUrl = 'https://api.example.com:8443'

async function start(t: Test, listen: object = {}) {
  const { tls } = certificateFiles(t, makeCertificate(t, 'DNS:localhost,IP:127.0.0.1'))
  const config = { publicUrl, listen: { port: 0, tls, redirect: { port: 0 }, ...listen } }
  const both = await startBoth(t, { config })
  const ask = (line: string, headers: readonly string[] = ['Host: api.example.com']) =>
    rawRequest(t, both.redirectUrl, [`${line} HTTP/1.1`, ...headers])
  return { ...both, config, ask }
}

t.test('plain HTTP is redirected to the same path at publicUrl, whatever the Host is', async (t) => {
  const { ask, backend } = await start(t)
  for (const [target, path = target] of [
    ['/'],
    ['/any/x?y=z&next=//evil'],
    ['//evil.example/x'],
    ['/caf%C3%A9'],
    ['http://evil.example/x?y', '/x?y'],
    ['http://evil.example', '/'],
  ] as const)
    for (const method of ['GET', 'HEAD'])
      for (const host of ['api.example.com', 'evil.example:80', '127.0.0.1']) {
        const { status, headers, body } = await ask(`${method} ${target}`, [`Host: ${host}`, 'SecretKey: x'])
        t.equal(status, 308, target)
        t.match(headers, { location: publicUrl + path, connection: 'close', 'content-length': '0' })
        t.match(headers['x-request-id'], /^[0-9a-f-]{36}$/)
        t.equal(body, '')
      }
  t.equal(backend.seen.length, 0)
})

t.test('other methods are refused, and no credential or path is looked at', async (t) => {
  const { ask, backend, createAccount } = await start(t)
  const { secretKey } = await createAccount({ role: 'Admin' })
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'get', 'TRACE']) {
    const host = ['Host: x', `SecretKey: ${secretKey}`]
    const response = await ask(`${method} /api/v1/accounts/access-token`, host)
    assertProblem(t, response, { status: 405, code: 'method-not-allowed' })
    t.match(response.headers, { allow: 'GET, HEAD', connection: 'close' })
    t.match(response.json().detail, /Send requests to https:\/\/api\.example\.com:8443/)
  }
  t.equal(backend.seen.length, 0)
})

t.test('what is no path, or has no host, leads nowhere', async (t) => {
  const { ask } = await start(t)
  for (const target of ['@evil.example/', '/a/../b', '/a%0d%0aSet-Cookie:x', '/a\\b', 'ftp://x/', '*'])
    assertProblem(t, await ask(`GET ${target}`), { status: 400, code: 'path-ambiguous' })
  for (const headers of [[], ['Host: a', 'Host: b'], ['Host: a b']])
    t.equal((await ask('GET /', headers)).status, 400)
})

t.test('a body is not read, and the connection ends with the answer', async (t) => {
  const { redirectUrl } = await start(t)
  const client = await connectRaw(t, redirectUrl)
  client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n')
  const { status } = await client.response()
  t.equal(status, 405)
  await client.ended()
})

t.test('it is logged and counted apart, and follows a reload of publicUrl', async (t) => {
  const { ask, ...gateway } = await start(t)
  await ask('GET /first')
  await until('it is logged', () => gateway.logLines.some((line) => line.includes('"path":"/first"')))
  t.match(JSON.parse(gateway.logLines.find((line) => line.includes('"path":"/first"')) ?? '{}'), {
    listener: 'redirect',
    route: '_gateway',
    status: 308,
  })
  const { value } = await readMetrics(gateway.opsUrl)
  t.equal(value('gatehouse_http_requests_total', { listener: 'redirect', code: '308' }), 1)
  t.match(await reloadWith(gateway, { ...gateway.config, publicUrl: 'https://new.example' }), taken)
  t.equal((await ask('GET /x')).headers.location, 'https://new.example/x')
  const { listen } = gateway.config
  const { problems } = await reloadWith(gateway, {
    ...gateway.config,
    listen: { ...listen, redirect: { port: 9 } },
  })
  t.match(problems, [/listen\.redirect: cannot be changed by a reload/])
})

t.test('a shutdown ends it too', async (t) => {
  const { shutDown, redirectUrl } = await start(t)
  t.equal(await shutDown(), true)
  await t.rejects(connectRaw(t, redirectUrl))
})
