import t from 'tap'
import { noHost, parseHost, readHostAt } from '#gateway/routes/hosts.ts'

/** Reads a host within a head, whose other parts must not count. */
function read(host: string) {
  const before = 'GET / HTTP/1.1\r\nHost: '
  return readHostAt(`${before}${host}\r\nX-A: 1\r\n\r\n`, before.length, before.length + host.length)
}

t.test('a host is read alike whichever was read before', async (t) => {
  const hosts = [
    ...['a.example', 'a.example', 'b.example', 'a.example.org', 'a.exampl', 'A.Example', 'a.example:8080'],
    ...['', ' ', 'a..example', 'a/b', '[::1]:80', `${'a'.repeat(259)}`, `${'a'.repeat(260)}`],
  ]
  for (const before of hosts)
    for (const host of hosts) {
      read(before)
      const name = parseHost(host)
      const expected = name === undefined ? noHost : { sent: host, name }
      t.strictSame(read(host), expected, `${host.slice(0, 20)} after ${before.slice(0, 20)}`)
    }
})
