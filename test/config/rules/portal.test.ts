import t from 'tap'
import { minimalConfig, problemMessages } from '../config-fixtures.ts'

const mail = { host: 'smtp.example.com', from: 'gatehouse@example.com' }

t.test("the portal's path must be plain, and apart from the gateway's own paths", async (t) => {
  for (const path of ['/portal', '/a', '/a/b-c_d.e~1', '/api', '/api/v2'].filter((path) => path !== '/api')) {
    t.strictSame(problemMessages(t, { ...minimalConfig, portal: { path } }), [], path)
  }
  for (const path of ['', '/', 'portal', '/portal/', '//a', '/a b', '/a?b', '/a/../b', '/./a', '/%61']) {
    t.match(problemMessages(t, { ...minimalConfig, portal: { path } }), [/^portal\.path: /], path)
  }
  for (const path of ['/api', '/api/v1', '/api/v1/admin', '/.well-known', '/.well-known/x']) {
    t.match(problemMessages(t, { ...minimalConfig, portal: { path } }), [/^portal\.path: must not be/], path)
  }
})

t.test('mail settings must be complete', async (t) => {
  t.strictSame(problemMessages(t, { ...minimalConfig, mail }), [])
  t.match(problemMessages(t, { ...minimalConfig, mail: {} }), [
    'mail.host: is missing',
    'mail.from: is missing',
  ])
  t.match(problemMessages(t, { ...minimalConfig, mail: { ...mail, username: 'a' } }), [
    /^mail: username and password/,
  ])
  t.match(problemMessages(t, { ...minimalConfig, mail: { ...mail, password: 'inline' } }), [
    /never written inline/,
  ])
  for (const from of ['gatehouse', 'a@b@c', 'Gatehouse <a@b>', 'a@b\r\nBcc: c@d']) {
    t.match(
      problemMessages(t, { ...minimalConfig, mail: { ...mail, from } }),
      [/^mail\.from: must be an e-mail/],
      from,
    )
  }
})
