import t from 'tap'
import { publicLocation } from '#gateway/forward/public-values.ts'

const strippedPrefix = { own: '/orders', replacement: '', outer: '' }
const context = {
  targetOrigin: 'http://10.0.0.11:3000',
  client: { protocol: 'https', host: 'api.example.com' },
  strippedPrefix,
}

t.test('paths of the backend get the stripped prefix back, in every form of a URL', async (t) => {
  for (const [sent, expected] of [
    ['/x', '/orders/x'],
    ['/x?next=/y#z', '/orders/x?next=/y#z'],
    ['/', '/orders/'],
    ['/\\evil.example', '/orders/\\evil.example'],
    ['https://api.example.com/x', 'https://api.example.com/orders/x'],
    ['HTTPS://API.example.com:443/x', 'HTTPS://API.example.com:443/orders/x'],
    ['https://api.example.com', 'https://api.example.com/orders/'],
    ['https://api.example.com?x', 'https://api.example.com/orders/?x'],
    // A backend that does not know of TLS; whether its redirect is one to http on purpose, only it knows.
    ['http://api.example.com/x', 'http://api.example.com/orders/x'],
    ['//api.example.com/x', '//api.example.com/orders/x'],
    ['http://10.0.0.11:3000/x', 'https://api.example.com/orders/x'],
    ['http://10.0.0.11:3000', 'https://api.example.com/orders/'],
    ['//10.0.0.11:3000/x', '//api.example.com/orders/x'],
    ['https://api.example.com/orders/x', 'https://api.example.com/orders/x'],
  ] as const)
    t.equal(publicLocation(sent, context), expected, sent)
})

t.test('relative references, other hosts and other schemes stay as they are', async (t) => {
  for (const location of [
    '',
    'x',
    './x',
    '../x',
    '?x',
    '#x',
    '//evil.example/x',
    '///x',
    'https://evil.example/x',
    'https://api.example.com.evil.example/x',
    'https://api.example.com@evil.example/x',
    'https://user@api.example.com/x',
    'https://api.example.com:8443/x',
    'https://api.example.com\\x/y',
    '//evil.example\\x/y',
    'http://10.0.0.12:3000/x',
    'ftp://api.example.com/x',
    'mailto:ada@api.example.com',
    'javascript:alert(1)',
  ])
    t.equal(publicLocation(location, context), location)
})

t.test('where nothing is stripped, only the address of the target is replaced', async (t) => {
  const plain = { ...context, strippedPrefix: undefined }
  for (const location of [
    '/x',
    'x',
    'https://api.example.com/x',
    '//api.example.com',
    'https://evil.example/',
  ])
    t.equal(publicLocation(location, plain), location)
  t.equal(publicLocation('http://10.0.0.11:3000', plain), 'https://api.example.com')
  t.equal(publicLocation('http://10.0.0.11:3000/x', plain), 'https://api.example.com/x')
})

t.test('a port of the client is part of its host', async (t) => {
  const client = { protocol: 'http', host: 'localhost:8080' }
  const local = { ...context, client }
  t.equal(publicLocation('http://localhost:8080/x', local), 'http://localhost:8080/orders/x')
  t.equal(publicLocation('http://localhost/x', local), 'http://localhost/x')
  t.equal(publicLocation('http://localhost:9000/x', local), 'http://localhost:9000/x')
})
