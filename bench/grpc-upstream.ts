import type { Socket } from 'node:net'
import { serveSockets } from './socket-server.ts'

/**
 * The upstream of all subjects for gRPC. It is as cheap as possible: HTTP/2 with prior knowledge whose heads are not
 * decoded. Each request gets the same message once its body has ended; no client may keep it from sending by its window.
 */

const prefaceBytes = 24
const frameHeadBytes = 9
const [data, headers, settings, ping, windowUpdate] = [0, 1, 4, 6, 8]
const [endStream, endHeaders, ack] = [0x1, 0x4, 0x1]
/** The window of a connection is topped up when this much of it is used: half of what it begins with. */
const windowStepBytes = 32_767

/** Literals without indexing (RFC 7541 6.2.2), which need no state. */
function block(fields: Readonly<Record<string, string>>): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)])
  const pieces = Object.entries(fields).flatMap(([name, value]) => [
    Buffer.from([0]),
    text(name),
    text(value),
  ])
  return Buffer.concat(pieces)
}

function frame(type: number, flags: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(frameHeadBytes)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  return Buffer.concat([head, payload])
}

const answerFrames = [
  frame(headers, endHeaders, block({ ':status': '200', 'content-type': 'application/grpc' })),
  // Not compressed, and 15 bytes (gRPC over HTTP/2, Length-Prefixed-Message).
  frame(data, 0, Buffer.from([0, 0, 0, 0, 15, ...Buffer.from('{"hello":"you"}')])),
  frame(headers, endHeaders | endStream, block({ 'grpc-status': '0' })),
]
const answer = Buffer.concat(answerFrames)
const streamIdPlaces = answerFrames.map((_, index) =>
  answerFrames.slice(0, index).reduce((place, { length }) => place + length, 5),
)

function answerTo(streamId: number): Buffer {
  const bytes = Buffer.from(answer)
  for (const place of streamIdPlaces) bytes.writeUInt32BE(streamId, place)
  return bytes
}

function topUp(bytes: number): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(bytes)
  return frame(windowUpdate, 0, payload)
}

function serve(socket: Socket): void {
  let rest: Buffer = Buffer.alloc(0)
  let isNew = true
  let usedBytes = 0
  socket.on('error', () => socket.destroy())
  socket.write(frame(settings, 0, Buffer.alloc(0)))
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const answers: Buffer[] = []
    let at = 0
    if (isNew && rest.length >= prefaceBytes) {
      isNew = false
      at = prefaceBytes
    }
    while (!isNew && rest.length >= at + frameHeadBytes) {
      const end = at + frameHeadBytes + rest.readUIntBE(at, 3)
      if (rest.length < end) break
      answers.push(...answersTo(rest.subarray(at, end)))
      at = end
    }
    rest = rest.subarray(at)
    if (answers.length > 0) socket.write(Buffer.concat(answers))
  })

  function answersTo(bytes: Buffer): readonly Buffer[] {
    const [type, flags = 0] = [bytes[3], bytes[4]]
    const payload = bytes.subarray(frameHeadBytes)
    if (type === settings && !(flags & ack)) return [frame(settings, ack, Buffer.alloc(0))]
    if (type === ping && !(flags & ack)) return [frame(ping, ack, payload)]
    if (type !== data && type !== headers) return []
    const isEnd = (flags & endStream) !== 0
    const answers = isEnd ? [answerTo(bytes.readUInt32BE(5))] : []
    if (type === headers) return answers
    usedBytes += payload.length
    if (usedBytes < windowStepBytes) return answers
    answers.push(topUp(usedBytes))
    usedBytes = 0
    return answers
  }
}

await serveSockets([], serve)
