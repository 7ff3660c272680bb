import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'

/** Frames of HTTP/2 as bytes (RFC 9113 6), for what no client library sends. */

export const frameTypes = {
  data: 0,
  headers: 1,
  resetStream: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const endStream = 0x1
export const endHeaders = 0x4

export function frame(
  type: keyof typeof frameTypes,
  flags: number,
  streamId: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(frameTypes[type], 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(streamId, 5)
  return Buffer.concat([head, payload])
}

/** Fields as HPACK literals without indexing (RFC 7541 6.2.2), each text shorter than 127 bytes. */
export function fieldBlock(fields: readonly (readonly [string, string])[]): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')])
  return Buffer.concat(
    fields.map(([name, value]) => Buffer.concat([Buffer.from([0]), text(name), text(value)])),
  )
}

export function requestBlock(path: string, fields: readonly (readonly [string, string])[] = []): Buffer {
  return fieldBlock([
    [':method', 'GET'],
    [':path', path],
    [':scheme', 'http'],
    [':authority', 'a'],
    ...fields,
  ])
}

export interface RawSession {
  readonly socket: Socket
  /** How many frames of each type have come. */
  readonly received: Map<number, number>
  /** The error code of the GOAWAY; undefined = there was none. */
  goawayCode(): number | undefined
}

/** @param settings identifier and value, again and again (RFC 9113 6.5.2) */
export async function openRawSession(
  t: Test,
  url: string,
  settings: readonly (readonly [number, number])[] = [],
): Promise<RawSession> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  const received = new Map<number, number>()
  let goaway: number | undefined
  let buffered = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk])
    while (buffered.length >= 9 && buffered.length >= 9 + buffered.readUIntBE(0, 3)) {
      const length = buffered.readUIntBE(0, 3)
      const type = buffered.readUInt8(3)
      received.set(type, (received.get(type) ?? 0) + 1)
      if (type === frameTypes.goaway) goaway = buffered.readUInt32BE(9 + 4)
      buffered = buffered.subarray(9 + length)
    }
  })
  const payload = Buffer.concat(
    settings.map(([identifier, value]) => {
      const entry = Buffer.alloc(6)
      entry.writeUInt16BE(identifier, 0)
      entry.writeUInt32BE(value, 2)
      return entry
    }),
  )
  socket.write(
    Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame('settings', 0, 0, payload)]),
  )
  return { socket, received, goawayCode: () => goaway }
}
