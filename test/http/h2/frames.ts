import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'

/** Frames of HTTP/2 as bytes (RFC 9113 6), for what no client library sends. */

export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly streamId: number
  readonly payload: Buffer
}

/** @returns takes bytes, in any pieces */
export function createFrameReader(onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  let buffered = Buffer.alloc(0)
  return function read(chunk) {
    buffered = Buffer.concat([buffered, chunk])
    while (buffered.length >= 9 && buffered.length >= 9 + buffered.readUIntBE(0, 3)) {
      const end = 9 + buffered.readUIntBE(0, 3)
      const payload = buffered.subarray(9, end)
      const [type = 0, flags = 0] = buffered.subarray(3, 5)
      const streamId = buffered.readUInt32BE(5)
      buffered = buffered.subarray(end)
      onFrame({ type, flags, streamId, payload })
    }
  }
}

export const endStream = 0x1
export const endHeaders = 0x4
/** Of PING and SETTINGS. */
const acknowledged = 0x1

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

/** @param settings identifier and value, again and again (RFC 9113 6.5.2) */
export function settingsPayload(settings: readonly (readonly [number, number])[]): Buffer {
  return Buffer.concat(
    settings.map(([identifier, value]) => {
      const entry = Buffer.alloc(6)
      entry.writeUInt16BE(identifier, 0)
      entry.writeUInt32BE(value, 2)
      return entry
    }),
  )
}

export interface RawSession {
  readonly socket: Socket
  /** All that have come. */
  readonly frames: readonly Frame[]
  /** How many frames of each type have come. */
  readonly received: Map<number, number>
  /** The streams whose answers have ended, in their order. */
  readonly ended: readonly number[]
  /** The last streams that GOAWAYs have named, in their order. */
  readonly lastStreams: readonly number[]
  /** Whether PINGs are left without acknowledgement. */
  holdsPings: boolean
  /** The error code of the GOAWAY; undefined = there was none. */
  goawayCode(): number | undefined
}

/** The same until the test ends. */
export async function openRawSession(
  t: Test,
  url: string,
  settings: readonly (readonly [number, number])[] = [],
): Promise<RawSession> {
  const session = await openSession(url, settings)
  t.teardown(() => session.socket.destroy())
  return session
}

/**
 * A connection that acknowledges PINGs, and else sends nothing by itself.
 * @param settings identifier and value, again and again (RFC 9113 6.5.2)
 */
export async function openSession(
  url: string,
  settings: readonly (readonly [number, number])[] = [],
): Promise<RawSession> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  const frames: Frame[] = []
  const received = new Map<number, number>()
  const ended: number[] = []
  const lastStreams: number[] = []
  let goaway: number | undefined
  const session = {
    ...{ socket, frames, received, ended, lastStreams },
    holdsPings: false,
    goawayCode: () => goaway,
  }
  const read = createFrameReader((one) => {
    const { type, flags, streamId, payload } = one
    // A copy outside of any pool, which keeps nothing else in memory.
    const copy = Buffer.alloc(payload.length)
    payload.copy(copy)
    frames.push({ ...one, payload: copy })
    received.set(type, (received.get(type) ?? 0) + 1)
    if (type === frameTypes.goaway) {
      lastStreams.push(payload.readUInt32BE(0))
      goaway = payload.readUInt32BE(4)
    } else if (type === frameTypes.ping && flags !== acknowledged) {
      if (!session.holdsPings) socket.write(frame('ping', acknowledged, 0, payload))
    } else if ((type === frameTypes.data || type === frameTypes.headers) && (flags & endStream) !== 0) {
      ended.push(streamId)
    }
  })
  socket.on('data', read)
  const payload = settingsPayload(settings)
  socket.write(
    Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame('settings', 0, 0, payload)]),
  )
  return session
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
