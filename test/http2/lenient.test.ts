import t from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { endHeaders, endStream, frame, frameTypes, openRawSession, requestBlock } from './frames.ts'

// What nghttp2 lets pass, as docs/deploying.md says.

const malformed: readonly (readonly [what: string, name: string, value: string])[] = [
  ['a control character in a value', 'x-bad', 'a\x01b'],
  ['a line break in a value', 'x-bad', 'a\r\nx-injected: b'],
  ['a space in a name', 'x bad', 'a'],
  ['a colon in a name', 'x:bad', 'a'],
  ['a credential with a control character', 'secretkey', 'gate_sk_\x01'],
]

t.test('a malformed field of HTTP/2 is dropped, and its request goes on without it', async (t) => {
  const backend = await startBackend(t)
  const gateway = await startGateway(t, { backend: backend.url })
  const { socket, ended, received } = await openRawSession(t, gateway.url)
  for (const [index, [what, name, value]] of malformed.entries()) {
    const id = 2 * index + 1
    const fields = [
      [name, value],
      ['x-good', what],
    ] as const
    socket.write(frame('headers', endHeaders | endStream, id, requestBlock('/optional/x', fields)))
    await until(what, () => ended.includes(id) || undefined)
    const { headers } = backend.last()
    t.equal(headers['x-good'], what)
    for (const absent of [name, 'x-bad', 'x-injected', 'x-user-id'])
      t.equal(headers[absent], undefined, `${what}: ${absent}`)
  }
  t.equal(received.get(frameTypes.resetStream), undefined)
})

t.test('100,000 WINDOW_UPDATE frames hold up no other connection', async (t) => {
  const backend = await startBackend(t)
  const gateway = await startGateway(t, { backend: backend.url })
  const flooding = await openRawSession(t, gateway.url)
  const other = await openRawSession(t, gateway.url)
  const update = frame('windowUpdate', 0, 0, Buffer.from([0, 0, 0, 1]))
  flooding.socket.write(Buffer.concat(Array.from({ length: 100_000 }, () => update)))
  other.socket.write(frame('headers', endHeaders | endStream, 1, requestBlock('/public/x')))
  await until('the other is answered', () => other.ended[0])
  flooding.socket.write(frame('headers', endHeaders | endStream, 1, requestBlock('/public/x')))
  await until('they are read, and the connection is of use', () => flooding.ended[0])
  t.equal(flooding.goawayCode(), undefined)
})
