import t from 'tap'
import { complaints, least, load } from '../files.ts'

const headers = (names: Readonly<Record<string, string>>) => ({ ...least, identity: { headers: names } })

t.test(
  'a name that the connection, the client or the gateway needs is refused in every spelling',
  async (t) => {
    const names = [
      ...['Authorization', 'SecretKey', 'Secret-Key', 'secret_key', 'Cookie', 'Set-Cookie', 'Host'],
      ...['Connection', 'Keep-Alive', 'Transfer-Encoding', 'transfer.encoding', 'TE', 'Trailer', 'Upgrade'],
      ...['Content-Length', 'content_length', 'Content-Type', 'Content-Encoding', 'Expect', 'Date', 'Via'],
      ...['Proxy-Authorization', 'Proxy-Connection', 'Forwarded', 'X-Forwarded-For', 'X_Forwarded_Proto'],
      ...['X-Forwarded-Host', 'X-Real-IP', 'X-Request-Id', 'traceparent', 'tracestate'],
    ]
    for (const name of names) {
      const message = `identity.headers.id: "${name}" has a meaning of its own: take another name`
      t.strictSame(complaints(t, headers({ id: name })), [message])
    }
  },
)

t.test('two headers whose names only differ by case and signs are one, and refused', async (t) => {
  t.strictSame(complaints(t, headers({ id: 'X-User', role: 'x_user' })), [
    'identity.headers.role: "x_user" is the header of "id" already: case and signs do not count',
  ])
  t.strictSame(complaints(t, headers({ email: 'x.user.id' })).length, 1, 'with a default name too')
})

t.test('a name has letters or digits, and no sign that a header name may not have', async (t) => {
  t.strictSame(complaints(t, headers({ id: '---' })), ['identity.headers.id: must have a letter or digit'])
  for (const name of ['', 'X User', 'X:User', 'X-Üser', 'X-User\r\nX-Role', 'X'.repeat(65)]) {
    t.match(complaints(t, headers({ id: name })), [/^identity\.headers\.id: has the wrong form/], name)
  }
})

t.test('any other name is taken, the rest keep their defaults or stay away', async (t) => {
  const config = load(t, headers({ role: 'Caller.Role', scheme: 'X-Scheme' }))
  t.strictSame(config.identityHeaders, { id: 'X-User-Id', role: 'Caller.Role', scheme: 'X-Scheme' })
})
