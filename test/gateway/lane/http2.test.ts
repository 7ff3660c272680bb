import t from 'tap'
import { ask, connectHttp2 } from '../../http/h2/ask.ts'
import { startBoth } from '../../setup/both.ts'
import { withoutRequestId } from '../support/ask.ts'

const fields = [
  { accept: '*/*', 'user-agent': 'test' },
  { cookie: ['a=b', 'c=d'], 'x-a': ['1', '2'] },
  { 'x-user-id': 'forged', x_user_role: 'Admin', 'x.user.email': 'a@example.com' },
  {
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-proto': 'https',
    'x-forwarded-port': '443',
    forwarded: 'for=x',
  },
  { 'x-request-id': 'mine', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  { origin: 'https://app.example', 'x-http-method-override': 'DELETE', 'x-original-url': '/admin' },
  { host: 'gateway.test', ':authority': 'gateway.test' },
  { 'content-length': '0' },
]
const targets = ['/any', '/any/x', '/any/x?q=1', '/any/a%20b', '/any/x/', '/any/~a.b']

t.test('over HTTP/2 the general path and the fast lane forward alike', async (t) => {
  for (const trustedProxies of [[], ['127.0.0.1']]) {
    const { backend, gateway } = await startBoth(t, {
      config: { trustedProxies },
      answer: (request, response) => response.end(`${request.method} ${request.url}`),
    })
    const account = await gateway.createAccount()
    const { JwtToken } = await gateway.tokens(account)
    const session = await connectHttp2(t, gateway.url)
    for (const credential of [{ secretkey: account.secretKey }, { authorization: `Bearer ${JwtToken}` }])
      for (const sent of fields)
        for (const target of targets)
          for (const method of ['GET', 'HEAD', 'DELETE']) {
            const headers = { ...sent, ...credential, ':method': method }
            const ordinary = await ask(session, target, { headers })
            const first = backend.last()
            // With this field, which is not forwarded, no request is ordinary.
            const general = await ask(session, target, { headers: { ...headers, trailer: 'x-none' } })
            const second = backend.last()
            const what = `${method} ${target} ${JSON.stringify(sent)}`
            t.equal(`${first.method} ${first.url}`, `${method} ${target}`, what)
            t.equal(`${second.method} ${second.url}`, `${method} ${target}`, what)
            t.strictSame(withoutRequestId(first.rawHeaders), withoutRequestId(second.rawHeaders), what)
            t.equal(first.headers['x-user-id'], account.account.id, what)
            t.equal(ordinary.status, 200, what)
            t.equal(ordinary.body, general.body, what)
          }
  }
})
