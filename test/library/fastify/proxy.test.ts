import t from 'tap'
import { nobody, startNtlmBackend } from '../../security/support/ntlm-backend.ts'
import { startBackend, startServer } from '../../setup/backend.ts'
import { rawRequest } from '../../setup/raw-client.ts'
import { startProxy } from './start-proxy.ts'

t.test('an admitted request is forwarded with the identity of its caller', async (t) => {
  const backend = await startBackend(t)
  const { url, createAccount } = await startProxy(t, [
    { upstream: backend.url, prefix: '/orders', auth: 'any' },
  ])
  const { account, secretKey } = await createAccount({ role: 'Editor' })
  const response = await fetch(`${url}/orders/1?x=1`, { headers: { SecretKey: secretKey } })
  t.equal(response.status, 200)
  t.equal(await response.text(), 'ok')
  t.ok(response.headers.get('x-request-id'))
  const { method, url: path, headers } = backend.last()
  t.match({ method, path }, { method: 'GET', path: '/orders/1?x=1' })
  t.match(headers, {
    'x-user-id': account.id,
    'x-user-role': 'Editor',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    host: new URL(url).host,
  })
  t.equal(headers['x-request-id'], response.headers.get('x-request-id'))
  t.notOk(headers.secretkey)
})

t.test('a caller who is not admitted reaches no backend', async (t) => {
  const backend = await startBackend(t)
  const { url, createAccount } = await startProxy(t, [
    { upstream: backend.url, prefix: '/orders', auth: 'any', roles: ['Admin'] },
  ])
  const { secretKey } = await createAccount()
  const anonymous = await fetch(`${url}/orders`)
  t.match(await anonymous.json(), { code: 'credentials-missing', status: 401 })
  const role = await fetch(`${url}/orders`, { headers: { SecretKey: secretKey } })
  t.match(await role.json(), { code: 'role-forbidden', status: 403 })
  t.strictSame(backend.seen, [])
})

t.test('bodies of every method and type reach the backend as they are', async (t) => {
  const backend = await startBackend(t)
  const { url } = await startProxy(t, [{ upstream: backend.url, prefix: '/', auth: 'none' }])
  for (const type of ['application/json', 'text/plain', 'application/x-unknown', '']) {
    const lines = [
      'POST /a HTTP/1.1',
      'Host: a',
      ...(type ? [`Content-Type: ${type}`] : []),
      'Content-Length: 5',
    ]
    t.equal((await rawRequest(t, url, lines, '{"a":')).status, 200, type)
    t.equal(backend.last().body, '{"a":', type)
    t.equal(backend.last().headers['content-type'], type || undefined)
    t.equal(backend.last().headers['content-length'], '5')
  }
  const chunked = ['POST /a HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked']
  await rawRequest(t, url, chunked, '3\r\nabc\r\n0\r\n\r\n')
  t.equal(backend.last().body, 'abc')
  for (const method of ['GET', 'DELETE', 'OPTIONS', 'PROPFIND', 'PATCH']) {
    await rawRequest(t, url, [`${method} /a HTTP/1.1`, 'Host: a', 'Content-Length: 4'], 'body')
    t.match(backend.last(), { method, body: 'body' }, method)
  }
})

t.test('a body has the same limit whatever its type: at it, one over and far over it', async (t) => {
  const backend = await startServer(t, (request, response) => {
    request.on('error', () => {}).resume()
    request.on('end', () => response.end())
  })
  const { url } = await startProxy(t, [{ upstream: backend, prefix: '/', auth: 'none', maxBody: '2MiB' }])
  const limit = 2 * 1_048_576
  for (const type of ['application/json', 'text/plain', 'image/png']) {
    const post = async (size: number) => {
      const lines = ['POST /a HTTP/1.1', 'Host: a', `Content-Type: ${type}`, `Content-Length: ${size}`]
      return (await rawRequest(t, url, lines, size > limit ? '' : 'x'.repeat(size))).status
    }
    t.equal(await post(limit), 200, type)
    t.equal(await post(limit + 1), 413, type)
    t.equal(await post(limit * 1_000), 413, type)
    const chunk = (size: number) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`
    const lines = ['POST /a HTTP/1.1', 'Host: a', `Content-Type: ${type}`, 'Transfer-Encoding: chunked']
    t.equal((await rawRequest(t, url, lines, `${chunk(limit)}0\r\n\r\n`)).status, 200, type)
    const beyond = await rawRequest(t, url, lines, chunk(limit + 1))
    t.match(beyond.json(), { code: 'body-too-large' }, type)
  }
})

t.test('a stripped prefix does not reach the backend, nor does its address the client', async (t) => {
  const backend = await startBackend(t, (_request, response) => {
    response
      .writeHead(302, { Location: `http://${_request.headers.host}/next`, 'Set-Cookie': ['a=1', 'b=2'] })
      .end()
  })
  const { url } = await startProxy(t, [
    { upstream: backend.url, prefix: '/orders', auth: 'none', stripPrefix: true, host: 'target' },
  ])
  const response = await fetch(`${url}/orders/1?a=%2F`, { redirect: 'manual' })
  t.equal(backend.last().url, '/1?a=%2F')
  t.equal(backend.last().headers.host, new URL(backend.url).host)
  t.ok(response.headers.get('location')?.startsWith(url))
  t.strictSame(response.headers.getSetCookie(), ['a=1', 'b=2'])
  await fetch(`${url}/orders`, { redirect: 'manual' })
  t.equal(backend.last().url, '/')
})

t.test('the assertion of an app names the proxy as its audience', async (t) => {
  const backend = await startBackend(t)
  const { url, createAccount } = await startProxy(
    t,
    [{ upstream: backend.url, prefix: '/orders', auth: 'any', name: 'order-service' }],
    { config: { identity: { assertion: { enabled: true } } } },
  )
  const { account, secretKey } = await createAccount()
  await fetch(`${url}/orders`, { headers: { SecretKey: secretKey, 'X-Gatehouse-Assertion': 'forged' } })
  const [, claims = ''] = String(backend.last().headers['x-gatehouse-assertion']).split('.')
  t.match(JSON.parse(Buffer.from(claims, 'base64url').toString()), { aud: 'order-service', sub: account.id })
})

t.test('the Destination of a MOVE is decided about as a request of its own', async (t) => {
  const backend = await startBackend(t)
  const open = { upstream: backend.url, auth: 'none' } as const
  const { url } = await startProxy(t, [
    { ...open, prefix: '/dav' },
    { ...open, prefix: '/dav/private', auth: 'any' },
  ])
  const move = (destination: string) =>
    rawRequest(t, url, ['MOVE /dav/a HTTP/1.1', 'Host: a.test', `Destination: ${destination}`])
  t.equal((await move('http://a.test/dav/b')).status, 200)
  t.equal(backend.last().headers.destination, 'http://a.test/dav/b')
  for (const destination of ['/dav/private/b', '/dav/../x', 'http://b.test/dav/b'])
    t.match((await move(destination)).json(), { code: 'destination-forbidden', status: 403 }, destination)
  t.equal(backend.seen.length, 1)
})

t.test('Location gets a stripped prefix back', async (t) => {
  const backend = await startBackend(t, (_request, response) =>
    response.writeHead(302, { Location: '/next' }).end(),
  )
  const { url } = await startProxy(t, [
    { upstream: backend.url, prefix: '/orders', auth: 'none', stripPrefix: true },
  ])
  const response = await fetch(`${url}/orders/1`, { redirect: 'manual' })
  t.equal(response.headers.get('location'), '/orders/next')
  t.equal(backend.last().headers['x-forwarded-prefix'], '/orders')
})

t.test('a request that signs its connection in (NTLM, Negotiate) shares it with nobody', async (t) => {
  const backend = await startNtlmBackend(t)
  const { url } = await startProxy(t, [{ upstream: backend.url, prefix: '/', auth: 'none' }])
  for (const credential of ['NTLM 3 eve', 'Negotiate eve', 'Basic eA==, ntlm 3 eve']) {
    const lines = ['GET /who HTTP/1.1', 'Host: a']
    t.equal((await rawRequest(t, url, [...lines, `Authorization: ${credential}`])).body, 'eve')
    for (let turn = 0; turn < 3; turn++) t.equal((await rawRequest(t, url, lines)).body, nobody)
  }
})
