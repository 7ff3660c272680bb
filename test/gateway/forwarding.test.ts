import { METHODS } from 'node:http'
import { gunzipSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { startCannedBackend } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { ask } from './support/ask.ts'

t.test('requests reach the backend as sent', async (t) => {
  const { backend, gateway } = await startBoth(t)

  t.test('every method is forwarded, known or not, with and without a body', async (t) => {
    for (const method of METHODS.filter((method) => method !== 'CONNECT' && method !== 'TRACE')) {
      for (const body of [undefined, '', 'body of it']) {
        const response = await ask(t, gateway.url, `${method} /public/x`, [], body)
        t.equal(response.status, 200, method)
        t.match(backend.last(), { method, url: '/public/x', body: body ?? '' })
        t.equal(
          backend.last().headers['content-length'],
          body === undefined ? undefined : String(body.length),
        )
        t.notOk('transfer-encoding' in backend.last().headers)
      }
    }
  })

  t.test('path and query are forwarded byte for byte', async (t) => {
    for (const target of [
      '/public',
      '/public/',
      '/public?',
      '/public?a=1&a=2&b',
      '/public/%7Euser/%c3%a9',
      "/public/a;b=c,d/@:!$&'()*+=",
      '/public/a?x=%2F../..//\\"<>|{}^`',
      '/p%75blic/x',
      '/public/...',
      '/public/.well-known/a..b',
      '/public/%25%32%65',
    ]) {
      t.equal((await ask(t, gateway.url, `GET ${target}`)).status, 200, target)
      t.equal(backend.last().url, target)
    }
    await ask(t, gateway.url, 'GET http://other.example/public/x?y')
    t.match(backend.last(), { url: '/public/x?y', headers: { host: 'gateway.test' } })
  })

  t.test('binary and chunked bodies are forwarded, their trailers dropped', async (t) => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256))
    const headers = ['Content-Type: application/x-www-form-urlencoded', 'Content-Encoding: br']
    await ask(t, gateway.url, 'POST /public', headers, bytes)
    t.ok(Buffer.from(backend.last().body, 'latin1').equals(bytes))
    t.match(backend.last().headers, { 'content-encoding': 'br', 'content-length': '70000' })
    const chunked = ['Transfer-Encoding: chunked', 'Trailer: X-Sum, X-User-Id']
    const client = await connectRaw(t, gateway.url)
    client.send(`POST /public HTTP/1.1\r\nHost: x\r\n${chunked.join('\r\n')}\r\n\r\n`)
    client.send(
      '3\r\nabc\r\n0a\r\n0123456789\r\n0\r\nX-Sum: 1\r\nX-User-Id: root\r\nx_user_role: Admin\r\n\r\n',
    )
    t.equal((await client.response()).status, 200)
    t.match(backend.last(), { body: 'abc0123456789', headers: { 'transfer-encoding': 'chunked' } })
    t.strictSame({ ...backend.last().trailers }, {}, 'trailers end here unless the route passes them')
  })

  t.test('one connection carries many requests, also pipelined', async (t) => {
    const client = await connectRaw(t, gateway.url)
    const start = backend.seen.length
    for (let index = 0; index < 20; index++) client.send(`GET /public/${index} HTTP/1.1\r\nHost: x\r\n\r\n`)
    for (let index = 0; index < 20; index++) t.equal((await client.response()).body, 'ok')
    const urls = backend.seen.slice(start).map(({ url }) => url)
    t.strictSame(
      urls,
      Array.from({ length: 20 }, (_, index) => `/public/${index}`),
    )
  })

  t.test('HTTP/1.0 clients are served, and their connection ends', async (t) => {
    const client = await connectRaw(t, gateway.url)
    client.send('GET /public HTTP/1.0\r\nHost: x\r\n\r\n')
    t.match(await client.response(), { status: 200, body: 'ok' })
    await client.ended()
  })
})

/** Answers that are to reach the client as they are. */
const answers: Record<string, { readonly head: string; readonly body?: string }> = {
  '/empty': { head: 'HTTP/1.1 200 OK\r\nContent-Length: 0' },
  '/no-content': { head: 'HTTP/1.1 204 Gone Away\r\nX-A: 1' },
  '/not-modified': { head: 'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 5' },
  '/partial': {
    head: 'HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-1/9\r\nContent-Length: 2',
    body: 'ab',
  },
  '/moved': { head: 'HTTP/1.1 301 Moved\r\nLocation: /else?x=1\r\nContent-Length: 0' },
  '/cookies': { head: 'HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nset-cookie: b=2; Path=/\r\nContent-Length: 0' },
  '/odd': { head: 'HTTP/1.1 299 \r\nX-Latin: caf\xe9\r\nX-Empty: \r\nContent-Length: 1', body: '\xff' },
  '/teapot': { head: "HTTP/1.1 418 I'm a teapot\r\nContent-Length: 0" },
}

t.test('answers reach the client as the backend gave them', async (t) => {
  for (const [name, { head, body = '' }] of Object.entries(answers)) {
    const gateway = await startGateway(t, { backend: await startCannedBackend(t, `${head}\r\n\r\n${body}`) })
    const client = await connectRaw(t, gateway.url)
    client.send('GET /public HTTP/1.1\r\nHost: x\r\n\r\n')
    const response = await client.response()
    const own = response.head
      .split('\r\n')
      .filter((line) => !/^(connection|keep-alive|date|x-request-id):/i.test(line))
    t.strictSame(own, head.split('\r\n'), name)
    t.equal(response.body, body)
    client.send('GET /public HTTP/1.1\r\nHost: x\r\n\r\n')
    t.equal((await client.response()).status, response.status, 'and the connection goes on')
  }
})

t.test('HEAD gets the head alone, however long the body', async (t) => {
  const { backend, gateway } = await startBoth(t, {
    answer: (_request, response) => {
      response.writeHead(200, { 'Content-Length': 1_000_000, ETag: '"x"' }).end()
    },
  })
  const response = await ask(t, gateway.url, 'HEAD /public')
  t.match(response, { status: 200, body: '', headers: { 'content-length': '1000000', etag: '"x"' } })
  t.equal(backend.last().method, 'HEAD')
})

t.test('chunked, encoded and trailed answers pass unchanged', async (t) => {
  const zipped = gzipSync('x'.repeat(50_000))
  const { backend, gateway } = await startBoth(t, {
    answer: (_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip', Trailer: 'X-Sum' })
      response.write(zipped)
      response.addTrailers({ 'X-Sum': '42' })
      response.end()
    },
  })
  const response = await ask(t, gateway.url, 'GET /public', ['Accept-Encoding: gzip'])
  t.match(response.headers, { 'content-encoding': 'gzip', 'transfer-encoding': 'chunked', trailer: 'X-Sum' })
  t.equal(gunzipSync(Buffer.from(response.body, 'latin1')).length, 50_000)
  t.match(response.trailers, { 'x-sum': '42' })
  t.equal(backend.last().headers['accept-encoding'], 'gzip')
})
