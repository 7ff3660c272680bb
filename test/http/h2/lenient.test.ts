import t from 'tap'
import { startBoth } from '../../setup/both.ts'
import { until } from '../../setup/net.ts'
import { endHeaders, endStream, frame, frameTypes, openRawSession, requestBlock } from './frames.ts'

const malformed: readonly (readonly [what: string, name: string, value: string])[] = [
  ['a control character in a value', 'x-bad', 'a\x01b'],
  ['a line break in a value', 'x-bad', 'a\r\nx-injected: b'],
  ['a space in a name', 'x bad', 'a'],
  ['a colon in a name', 'x:bad', 'a'],
  ['a credential with a control character', 'secretkey', 'gate_sk_\x01'],
  ['a space at the end of a value', 'x-bad', 'a '],
  ['no name', '', 'a'],
]

t.test('a malformed field of HTTP/2 is refused, and reaches no backend', async (t) => {
  const { backend, gateway } = await startBoth(t)
  const { socket, ended, received } = await openRawSession(t, gateway.url)
  for (const [index, [what, name, value]] of malformed.entries()) {
    const id = 2 * index + 1
    socket.write(frame('headers', endHeaders | endStream, id, requestBlock('/optional/x', [[name, value]])))
    await until(what, () => ended.includes(id) || undefined)
  }
  t.equal(backend.seen.length, 0)
  t.equal(received.get(frameTypes.resetStream), undefined)
  await until(
    'each is answered and logged',
    () => gateway.logLines.filter((line) => line.includes('400')).length,
  )
})

const notHttp2: readonly (readonly [name: string, value: string])[] = [
  ['connection', 'close'],
  ['transfer-encoding', 'chunked'],
  ['upgrade', 'websocket'],
  ['te', 'gzip'],
  ['X-Upper', 'a'],
  [':status', '200'],
]

t.test('a field that HTTP/2 does not have resets its request', async (t) => {
  const { backend, gateway } = await startBoth(t)
  const { socket, received } = await openRawSession(t, gateway.url)
  for (const [index, field] of notHttp2.entries()) {
    const block = requestBlock('/optional/x', [field])
    socket.write(frame('headers', endHeaders | endStream, 2 * index + 1, block))
    await until(field[0], () => received.get(frameTypes.resetStream) === index + 1)
  }
  t.strictSame([backend.seen.length, received.get(frameTypes.headers)], [0, undefined])
})

t.test('WINDOW_UPDATE frames hold up no other connection, and not their own up to 256 KiB', async (t) => {
  const gateway = await startBoth(t)
  const flooding = await openRawSession(t, gateway.url)
  const other = await openRawSession(t, gateway.url)
  const update = frame('windowUpdate', 0, 0, Buffer.from([0, 0, 0, 1]))
  const count = Math.floor((262_144 - 100) / update.length)
  flooding.socket.write(Buffer.concat(Array.from({ length: count }, () => update)))
  other.socket.write(frame('headers', endHeaders | endStream, 1, requestBlock('/public/x')))
  await until('the other is answered', () => other.ended[0])
  flooding.socket.write(frame('headers', endHeaders | endStream, 1, requestBlock('/public/x')))
  await until('they are read, and the connection is of use', () => flooding.ended[0])
  t.equal(flooding.goawayCode(), undefined)
})
