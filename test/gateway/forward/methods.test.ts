import { METHODS } from 'node:http'
import t from 'tap'
import { startBackend } from '../../setup/backend.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { connectProxy, headOf, startProxy } from './proxies.ts'

const proxied = METHODS.filter((method) => method !== 'CONNECT' && method !== 'TRACE')
const unusual = ['MKCOL', 'PROPFIND', 'M-SEARCH', 'QUERY', 'REPORT', 'LOCK', 'SUBSCRIBE', 'PURGE', 'SOURCE']

t.test('every method that is a method passes as it is, with its body', async (t) => {
  const backend = await startBackend(t)
  const client = await connectProxy(t, backend.url)
  for (const method of proxied) {
    client.send(`${headOf(`${method} /x HTTP/1.1`, 'Content-Length: 4')}body`)
    t.equal((await client.response(method === 'HEAD')).status, 200, method)
    t.hasStrict(backend.last(), { method, url: '/x', body: 'body' })
  }
  t.ok(unusual.every((method) => proxied.includes(method)))
})

const contentTypes = [
  'application/json',
  'application/json; charset=utf-16',
  'text/plain',
  'application/octet-stream',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'application/xml',
  'nonsense',
  '/',
  ';',
  '',
  'text/',
  'a/b; c',
  '"',
]

t.test('a body with any content type passes, and with none', async (t) => {
  const backend = await startBackend(t)
  const client = await connectProxy(t, backend.url)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'PROPFIND', 'QUERY', 'MKCOL']) {
    for (const type of contentTypes) {
      client.send(`${headOf(`${method} / HTTP/1.1`, `Content-Type: ${type}`, 'Content-Length: 2')}{"`)
      t.equal((await client.response()).status, 200, `${method} ${type}`)
      t.equal(backend.last().headers['content-type'], type)
      t.equal(backend.last().body, '{"')
    }
    client.send(`${headOf(`${method} / HTTP/1.1`, 'Content-Length: 2')}{"`)
    t.equal((await client.response()).status, 200, `${method} without a type`)
    t.equal('content-type' in backend.last().headers, false)
  }
})

t.test('two content types, and one with an empty body, pass too', async (t) => {
  const backend = await startBackend(t)
  const client = await connectProxy(t, backend.url)
  client.send(`${headOf('POST / HTTP/1.1', 'Content-Type: a/b', 'Content-Type: c/d', 'Content-Length: 1')}x`)
  t.equal((await client.response()).status, 200)
  t.strictSame(
    backend.last().rawHeaders.filter((text) => /^.\/.$/.test(text)),
    ['a/b', 'c/d'],
  )
  client.send(headOf('POST / HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 0'))
  t.equal((await client.response()).status, 200)
})

t.test('CONNECT and TRACE are refused, and reach no target', async (t) => {
  const backend = await startBackend(t)
  const { url } = await startProxy(t, backend.url)
  for (const line of ['TRACE / HTTP/1.1', 'CONNECT example.com:443 HTTP/1.1', 'CONNECT / HTTP/1.1']) {
    const client = await connectRaw(t, url)
    client.send(headOf(line))
    t.equal((await client.response()).status, 405, line)
  }
  t.equal(backend.seen.length, 0)
})

t.test('a path passes as it was sent', async (t) => {
  const backend = await startBackend(t)
  const client = await connectProxy(t, backend.url)
  const targets = ['/%41', '/a?b=%zz&c[]=1', '/caf%c3%a9/', '/a;v=1?', "/!$&'()*+,=:@", '/?', '/a|b^c']
  for (const target of targets) {
    client.send(headOf(`GET ${target} HTTP/1.1`))
    t.equal((await client.response()).status, 200, target)
    t.equal(backend.last().url, target)
  }
  client.send(headOf('GET http://elsewhere.example/absolute?q HTTP/1.1'))
  t.equal((await client.response()).status, 200)
  t.equal(backend.last().url, '/absolute?q')
  t.equal(backend.last().headers.host, 'gateway.example')
})
