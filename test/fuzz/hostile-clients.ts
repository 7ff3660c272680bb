import { postBlock, widen } from '../http/h2/flow.ts'
import { endHeaders, endStream, frame, type RawSession, requestBlock, uint32 } from '../http/h2/frames.ts'
import type { Random } from './random.ts'

/** What one client of HTTP/2 does to its connection, on streams from `first` on. @returns the next stream */
type Attack = (session: RawSession, first: number, random: Random) => number

const cancel = 8
const path = '/public/attack'

/** Opens streams, and does something to each at once. */
function onStreams(count: number, open: (id: number, random: Random) => readonly Buffer[]): Attack {
  return ({ socket }, first, random) => {
    const frames = Array.from({ length: count }, (_, index) => open(first + 2 * index, random)).flat()
    socket.write(Buffer.concat(frames))
    return first + 2 * count
  }
}

/** Frames without a stream. */
function frames(count: number, make: (random: Random) => Buffer): Attack {
  return ({ socket }, first, random) => {
    socket.write(Buffer.concat(Array.from({ length: count }, () => make(random))))
    return first
  }
}

/** What hostile clients do: floods are as large as a client may make them before it is cut off, or larger. */
export const attacks: Readonly<Record<string, Attack>> = {
  'uploads that are cancelled': onStreams(100, (id) => [
    frame('headers', endHeaders, id, postBlock(path)),
    frame('data', 0, id, Buffer.alloc(10)),
    frame('resetStream', 0, id, uint32(cancel)),
  ]),
  'requests that are cancelled': onStreams(100, (id, random) => [
    frame('headers', endHeaders | endStream, id, requestBlock(path)),
    frame('resetStream', 0, id, uint32(random.integer(14))),
  ]),
  'uploads that stop': onStreams(20, (id) => [
    frame('headers', endHeaders, id, postBlock(path, [['content-length', '1000']])),
    frame('data', 0, id, Buffer.alloc(1)),
  ]),
  'bodies that are too long': onStreams(20, (id) => [
    frame('headers', endHeaders, id, postBlock(path, [['content-length', '1']])),
    frame('data', endStream, id, Buffer.alloc(100)),
  ]),
  'malformed requests': onStreams(20, (id, random) => [
    frame(
      'headers',
      endHeaders | endStream,
      id,
      requestBlock(path, [[random.of(['te', 'x y', ':path']), 'x']]),
    ),
  ]),
  'responses that nobody takes': (session, first, random) => {
    // SETTINGS_INITIAL_WINDOW_SIZE.
    session.socket.write(frame('settings', 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])))
    return onStreams(10, (id) => [
      frame('headers', endHeaders | endStream, id, requestBlock('/public/large')),
    ])(session, first, random)
  },
  'windows opened byte by byte': (session, first) => {
    for (let count = 0; count < 500; count++) widen(session, 0, 1)
    return first
  },
  PINGs: frames(2_000, () => frame('ping', 0, 0, Buffer.alloc(8))),
  SETTINGS: frames(500, (random) =>
    frame('settings', 0, 0, Buffer.from([0, 4, 0, 0, 0, random.integer(256)])),
  ),
  'any bytes': frames(1, (random) => random.bytes(random.integer(200))),
  'half a head': (session, first) => {
    session.socket.write(frame('headers', 0, first, requestBlock(path)))
    return first + 2
  },
}
