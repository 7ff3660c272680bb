import t from 'tap'
import { endHeaders, endStream, fieldBlock, frame, frameTypes, openRawSession } from '../http/h2/frames.ts'
import { startServer } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'

/** Fields of HTTP/2 may hold line breaks, which are the ends of fields in HTTP/1.1. */
const injections: readonly (readonly [what: string, name: string, value: string])[] = [
  ['a field in a value', 'x-sum', '1\r\nX-User-Id: admin'],
  ['a request in a value', 'x-sum', '1\r\n\r\nGET /public/smuggled HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a bare line feed in a value', 'x-sum', '1\nX-User-Id: admin'],
  ['a field in a name', 'x-sum: 1\r\nx-user-id', 'admin'],
  ['a null byte in a value', 'x-sum', '1\0'],
  ['a space at the end of a name', 'x-user-id ', 'admin'],
]

t.test('no trailer field of HTTP/2 becomes another one, or a request, of HTTP/1.1', async (t) => {
  const seen: unknown[] = []
  const backend = await startServer(t, (request, response) => {
    request
      .on('error', () => {})
      .on('end', () => {
        seen.push({ url: request.url, trailers: request.trailers })
        response.end('ok')
      })
    request.resume()
  })
  const routes = [{ name: 'public', path: '/public', upstream: 'backend', auth: 'none', trailers: 'pass' }]
  const gateway = await startGateway(t, { backend, config: { routes } })
  const { socket, ended, received } = await openRawSession(t, gateway.url)
  const head = (id: number) =>
    frame(
      'headers',
      endHeaders,
      id,
      fieldBlock([
        [':method', 'POST'],
        [':path', '/public/x'],
        [':scheme', 'http'],
        [':authority', 'a'],
        ['te', 'trailers'],
      ]),
    )
  const send = (id: number, name: string, value: string) =>
    socket.write(
      Buffer.concat([
        head(id),
        frame('data', 0, id, Buffer.from('body')),
        frame('headers', endHeaders | endStream, id, fieldBlock([[name, value]])),
      ]),
    )
  send(1, 'x-sum', '1')
  await until('the good one is answered', () => ended.includes(1))
  for (const [index, [what, name, value]] of injections.entries()) {
    const id = 2 * index + 3
    send(id, name, value)
    await until(what, () => received.get(frameTypes.resetStream) === index + 1 || ended.includes(id))
  }
  t.equal(received.get(frameTypes.resetStream), injections.length, 'each is refused')
  send(101, 'x-sum', '2')
  await until('the connection is still of use', () => ended.includes(101))
  t.strictSame(
    seen,
    ['1', '2'].map((sum) => ({ url: '/public/x', trailers: { 'x-sum': sum } })),
    'the backend has got the good ones, with their trailers',
  )
})
