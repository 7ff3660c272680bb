import type { Socket } from 'node:net'
import type { Test } from 'tap'
import { startRawBackend } from '../../setup/backend.ts'
import {
  createFrameReader,
  endHeaders,
  endStream,
  type Frame,
  frame,
  frameTypes,
  settingsPayload,
  uint32,
} from './frames.ts'

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const ack = 0x1
/** Field blocks of the static table (RFC 7541 A): `:status: 200`. */
const status200 = Buffer.from([0x88])

/** A connection of the gateway to a backend that speaks in frames. */
export interface FrameConnection {
  readonly socket: Socket
  /** Counted from 0. */
  readonly index: number
  /** All but SETTINGS. */
  readonly frames: readonly Frame[]
  /** The bytes of the body that came on a stream. */
  bodyOf(streamId: number): string
  /** Once it has said its own settings, which come first. */
  acknowledge(): void
  sendSettings(settings: readonly (readonly [number, number])[]): void
  respond(streamId: number, body: string): void
  reset(streamId: number, code: number): void
  goaway(lastStreamId: number, code: number): void
}

export interface FrameBackend {
  readonly url: string
  readonly connections: readonly FrameConnection[]
}

export interface FrameBackendOptions {
  /** What it says first; undefined = nothing. */
  readonly settings?: readonly (readonly [number, number])[] | undefined
  onConnection?(connection: FrameConnection): void
  onFrame?(connection: FrameConnection, frame: Frame): void
}

/** A backend of HTTP/2 that does what no server library does. */
export async function startFrameBackend(t: Test, options: FrameBackendOptions): Promise<FrameBackend> {
  const connections: FrameConnection[] = []
  const url = await startRawBackend(t, (socket) => {
    const frames: Frame[] = []
    const connection = createConnection(socket, connections.length, frames)
    connections.push(connection)
    if (!('settings' in options)) connection.sendSettings([])
    else if (options.settings) connection.sendSettings(options.settings)
    options.onConnection?.(connection)
    const read = createFrameReader((received) => {
      const { type, flags, payload } = received
      if (type === frameTypes.settings) {
        if (flags === 0) connection.acknowledge()
        return
      }
      if (type === frameTypes.ping && flags === 0) socket.write(frame('ping', ack, 0, payload))
      frames.push(received)
      options.onFrame?.(connection, received)
    })
    let before = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      if (before.length >= preface.length) return read(chunk)
      before = Buffer.concat([before, chunk])
      if (before.length >= preface.length) read(before.subarray(preface.length))
    })
  })
  return { url, connections }
}

function createConnection(socket: Socket, index: number, frames: readonly Frame[]): FrameConnection {
  let hasSentSettings = false
  let mustAcknowledge = false
  const acknowledge = () => {
    mustAcknowledge = !hasSentSettings
    if (hasSentSettings) socket.write(frame('settings', ack, 0))
  }
  return {
    socket,
    index,
    frames,
    acknowledge,
    bodyOf: (streamId) => {
      const pieces = frames.filter((one) => one.type === frameTypes.data && one.streamId === streamId)
      return Buffer.concat(pieces.map(({ payload }) => payload)).toString('latin1')
    },
    sendSettings: (settings) => {
      socket.write(frame('settings', 0, 0, settingsPayload(settings)))
      hasSentSettings = true
      if (mustAcknowledge) acknowledge()
    },
    respond: (streamId, body) => {
      socket.write(frame('headers', endHeaders, streamId, status200))
      socket.write(frame('data', endStream, streamId, Buffer.from(body)))
    },
    reset: (streamId, code) => socket.write(frame('resetStream', 0, streamId, uint32(code))),
    goaway: (lastStreamId, code) =>
      socket.write(frame('goaway', 0, 0, Buffer.concat([uint32(lastStreamId), uint32(code)]))),
  }
}
