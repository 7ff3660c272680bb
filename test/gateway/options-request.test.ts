import t from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { headOf, startProxy } from './forward/proxies.ts'

const usual = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT'

t.test('OPTIONS * is answered by the gateway itself, without a credential', async (t) => {
  const backend = await startBackend(t)
  const { url, logLines } = await startProxy(t, backend.url, { route: { auth: 'secretKey' } })
  const client = await connectRaw(t, url)
  for (const target of ['*', 'http://gateway.example', 'HTTP://gateway.example:80']) {
    client.send(headOf(`OPTIONS ${target} HTTP/1.1`))
    const { status, headers } = await client.response()
    t.match({ status, ...headers }, { status: 204, allow: usual, date: /GMT$/, 'x-request-id': /./ }, target)
    t.equal(headers['content-length'], undefined, 'a 204 has no length (RFC 9110 8.6)')
  }
  client.send(`${headOf('OPTIONS * HTTP/1.1', 'Content-Length: 4', 'Max-Forwards: 3')}body`)
  t.equal((await client.response()).status, 204, 'its body is passed over, and the connection goes on')
  client.send(headOf('OPTIONS http://gateway.example/ HTTP/1.1'))
  t.equal((await client.response()).status, 401, 'with a path it is about the path')
  t.equal(backend.seen.length, 0)
  t.match(JSON.parse(logLines.find((line) => line.includes('"*"')) ?? '{}'), {
    route: '_gateway',
    status: 204,
  })
})

t.test('OPTIONS * needs one valid Host, and no other method takes *', async (t) => {
  const { url } = await startProxy(t, (await startBackend(t)).url)
  for (const head of [
    'OPTIONS * HTTP/1.1\r\n\r\n',
    headOf('OPTIONS * HTTP/1.1', 'Host: b'),
    headOf('GET * HTTP/1.1'),
    headOf('OPTIONS ** HTTP/1.1'),
    headOf('OPTIONS *? HTTP/1.1'),
  ]) {
    const client = await connectRaw(t, url)
    client.send(head)
    t.equal((await client.response()).status, 400, head)
  }
})

t.test('OPTIONS is forwarded with Max-Forwards less one, and answered by the gateway at 0', async (t) => {
  const backend = await startBackend(t)
  const { url } = await startProxy(t, backend.url, {
    route: { path: '/items', methods: ['GET', 'OPTIONS'] },
  })
  const client = await connectRaw(t, url)
  for (const [sent, forwarded] of [
    ['1', '0'],
    ['10', '9'],
    ['0007', '6'],
    ['999999999', '999999998'],
    ['1000000000', '999999998'],
    ['9'.repeat(400), '999999998'],
  ] as const) {
    // Twice: the second head is a repeated one.
    for (let turn = 0; turn < 2; turn++) {
      client.send(headOf('OPTIONS /items HTTP/1.1', `max-forwards: ${sent}`))
      t.equal((await client.response()).status, 200)
      t.equal(backend.last().headers['max-forwards'], forwarded, sent)
    }
  }
  const { length } = backend.seen
  for (const none of ['0', '00', '0000000000']) {
    client.send(headOf('OPTIONS /items HTTP/1.1', `Max-Forwards: ${none}`))
    const { status, headers } = await client.response()
    t.match({ status, ...headers }, { status: 204, allow: 'GET, HEAD, OPTIONS' }, none)
  }
  t.equal(backend.seen.length, length, 'none of these reached the backend')
})

t.test('a Max-Forwards that is repeated or not a number is refused on OPTIONS', async (t) => {
  const backend = await startBackend(t)
  const client = await connectRaw(t, (await startProxy(t, backend.url)).url)
  for (const lines of [
    ['Max-Forwards: -1'],
    ['Max-Forwards: 1.0'],
    ['Max-Forwards: 0x1'],
    ['Max-Forwards: 1, 1'],
    ['Max-Forwards:'],
    ['Max-Forwards: 3', 'max-forwards: 3'],
  ]) {
    client.send(headOf('OPTIONS / HTTP/1.1', ...lines))
    const { status, body } = await client.response()
    t.match({ status, body }, { status: 400, body: /"field":"Max-Forwards"/ }, lines.join())
  }
  t.equal(backend.seen.length, 0)
})

t.test('Max-Forwards is ignored on methods other than OPTIONS, and TRACE stays refused', async (t) => {
  const backend = await startBackend(t)
  const client = await connectRaw(t, (await startProxy(t, backend.url)).url)
  for (const value of ['0', '5', 'x']) {
    client.send(headOf('GET / HTTP/1.1', `Max-Forwards: ${value}`))
    t.equal((await client.response()).status, 200)
    t.equal(backend.last().headers['max-forwards'], value)
  }
  const { length } = backend.seen
  for (const value of ['0', '5']) {
    client.send(headOf('TRACE / HTTP/1.1', `Max-Forwards: ${value}`))
    t.equal((await client.response()).status, 405)
  }
  t.equal(backend.seen.length, length)
})

t.test('an unauthorised OPTIONS with Max-Forwards: 0 is refused like any other', async (t) => {
  const gateway = await startGateway(t)
  const client = await connectRaw(t, gateway.url)
  client.send(headOf('OPTIONS /key HTTP/1.1', 'Max-Forwards: 0'))
  const refused = await client.response()
  t.match({ status: refused.status, allow: refused.headers.allow }, { status: 401, allow: undefined })
  const { secretKey } = await gateway.createAccount()
  client.send(headOf('OPTIONS /key HTTP/1.1', 'Max-Forwards: 0', `SecretKey: ${secretKey}`))
  t.equal((await client.response()).status, 204)
})

t.test('an OPTIONS answered by the gateway carries the CORS headers of its origin', async (t) => {
  const page = 'https://app.example'
  const gateway = await startProxy(t, (await startBackend(t)).url, { config: { cors: { origins: [page] } } })
  const client = await connectRaw(t, gateway.url)
  for (const line of ['OPTIONS * HTTP/1.1', 'OPTIONS / HTTP/1.1']) {
    client.send(headOf(line, 'Max-Forwards: 0', `Origin: ${page}`))
    const { status, headers } = await client.response()
    t.match({ status, origin: headers['access-control-allow-origin'] }, { status: 204, origin: page }, line)
  }
})
