import t, { type Test } from 'tap'
import { headOf, startProxy } from '../gateway/forward/proxies.ts'
import { answerOf, startHeadBackend } from '../http/outgoing/backends.ts'
import { connectRaw } from '../setup/raw-client.ts'

/** A backend that, like uvicorn, closes the connection where the request line is not ASCII. */
function startAsciiBackend(t: Test) {
  return startHeadBackend(t, ({ socket, text, path }) => {
    if (/[^\t\r\n -~]/.test(text)) socket.destroy()
    else socket.write(answerOf(path))
  })
}

t.test('bytes above 0x7F in path and query reach the target percent-encoded', async (t) => {
  const backend = await startAsciiBackend(t)
  const { url, logLines } = await startProxy(t, backend.url)
  const client = await connectRaw(t, url)
  for (const [sent, forwarded] of [
    ['/u?q=\xc3\xa9', '/u?q=%C3%A9'],
    ['/caf\xc3\xa9/x', '/caf%C3%A9/x'],
    ['/\x80\xff', '/%80%FF'],
    ['http://gateway.example/\xe9', '/%E9'],
  ] as const) {
    client.send(headOf(`GET ${sent} HTTP/1.1`))
    t.equal((await client.response()).body, forwarded)
  }
  const paths = logLines.map((line) => (JSON.parse(line) as { path?: string }).path).filter(Boolean)
  t.strictSame(paths, ['/u', '/caf%C3%A9/x', '/%80%FF', '/%E9'], 'the log has the same form')
})

t.test('a path matches the same route whether its bytes above 0x7F come raw or encoded', async (t) => {
  const backend = await startAsciiBackend(t)
  const { url } = await startProxy(t, backend.url, {
    config: {
      routes: [
        { name: 'all', path: '/', upstream: 'backend', auth: 'none' },
        { name: 'closed', path: '/caf%C3%A9', upstream: 'backend', auth: 'secretKey' },
      ],
    },
  })
  const client = await connectRaw(t, url)
  for (const path of ['/caf%C3%A9/x', '/caf%c3%a9/x', '/caf\xc3\xa9/x']) {
    client.send(headOf(`GET ${path} HTTP/1.1`))
    t.equal((await client.response()).status, 401, path)
  }
  t.equal(backend.heads.length, 0)
})

t.test('a target with bytes above 0x7F is no way around the checks of paths', async (t) => {
  const backend = await startAsciiBackend(t)
  const client = await connectRaw(t, (await startProxy(t, backend.url)).url)
  for (const path of ['/\xc3\xa9/../x', '/\xc3\xa9//x', '/\xc3\xa9\\x', '/\xc3\xa9%zz', '/\xc3\xa9#']) {
    client.send(headOf(`GET ${path} HTTP/1.1`))
    t.equal((await client.response()).json().code, 'path-ambiguous', path)
  }
})
