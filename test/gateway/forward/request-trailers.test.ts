import t from 'tap'
import { identityHeaders, writerOf } from './heads.ts'

const writer = writerOf({ ...identityHeaders, id: 'Remote-User' })
const backend = { name: 'backend', headers: undefined }
const writeTrailers = (rawTrailers: readonly string[]) => writer.writeTrailers(rawTrailers, backend)

t.test('trailers pass in their order and case', async (t) => {
  t.equal(
    writeTrailers(['X-Sum', 'abc', 'x-sum', '', 'Server-Timing', 'a']),
    'X-Sum: abc\r\nx-sum: \r\nServer-Timing: a\r\n',
  )
  t.equal(writeTrailers([]), '')
})

t.test('a trailer can bring neither identity nor credentials, neither framing nor routing', async (t) => {
  const names = [
    'X-User-Id',
    'x_user_id',
    'X.User.Role',
    'Remote_User',
    'X-Gatehouse-Assertion',
    'SecretKey',
    'Authorization',
    'Cookie',
    'Content-Length',
    'Transfer-Encoding',
    'Host',
    'Connection',
    'TE',
    'Upgrade',
    'Keep-Alive',
    'Proxy-Authorization',
    'X-Forwarded-For',
    'X-Forwarded-Prefix',
    'Forwarded',
    'X-Real-IP',
    'X-Original-URL',
    'X-Request-Id',
  ]
  for (const name of names) {
    t.equal(writeTrailers([name, 'x', 'X-Sum', 'y']), 'X-Sum: y\r\n', name)
    t.equal(writeTrailers([name.toLowerCase(), 'x']), '', name)
  }
})
