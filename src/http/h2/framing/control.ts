import type { HpackEncoder } from '../hpack/encoder.ts'
import { assertOtherStream } from './field-block.ts'
import type { FloodGuard } from './flood-guard.ts'
import type { FrameOutput } from './frame-output.ts'
import type { FrameStream } from './frame-stream.ts'
import {
  ConnectionError,
  errorCode,
  frameFlag,
  frameHeadBytes,
  frameSizeError,
  frameType,
  protocolError,
  readSettings,
  type Settings,
  uint31At,
  uint32At,
  windowDefault,
  windowMax,
} from './protocol.ts'
import type { ClosedStreams, StreamTable } from './stream-table.ts'
import type { StreamConnection } from './streams.ts'

/** The connection whose frames are read. */
export interface FramedConnection extends StreamConnection<FrameStream> {
  readonly streams: StreamTable<FrameStream>
  readonly output: FrameOutput
  readonly encoder: HpackEncoder
  /** undefined = the peer is a server, which is trusted not to flood. */
  readonly guard: FloodGuard | undefined
  readonly closedStreams: ClosedStreams
  readonly isClosed: boolean
  /** The last stream that this side has opened. */
  readonly lastOpenedId: number
  readonly options: FrameConnectionOptions
  readonly events: ConnectionEvents
  readonly pings: Pings
}

/** The fields of a head. */
export interface FieldList {
  /** Name, value, name, value, as received. */
  readonly fields: string[]
  /** Whether they did not exceed `headSizeMax`: if they did, only the beginning is here. */
  readonly isWhole: boolean
  /** Whether they need no check but that of their order. */
  readonly areChecked: boolean
}

/** What the owner of a connection is told. */
export interface ConnectionEvents {
  /** The peer opens a stream. */
  onStream(stream: FrameStream, list: FieldList, isLast: boolean): void
  /** The peer has sent its settings, or changed them. */
  onSettings(streamsMax: number): void
  /** Streams above the last one were not processed (RFC 9113 6.8). */
  onGoaway(lastStreamId: number, code: number): void
  /** The peer checks whether the connection is alive. */
  onPing(): void
  /** @param error what the peer did to its connection; undefined = it was closed */
  onClose(error: ConnectionError | undefined): void
}

export interface FrameConnectionOptions {
  readonly isServer: boolean
  readonly settings: Settings
  /** How much the peer may send ahead on all streams together; from 65,535. */
  readonly windowBytes: number
  /** How many streams the peer may have open; read at each use. */
  readonly streamsMax: number
  /** The maximum size of the fields of one head, in octets as RFC 9113 6.5.2 counts them; called at each use. */
  readonly headSizeMax: () => number
}

/** Handles frames that carry neither fields nor data (RFC 9113 6.3 to 6.9). */
export class Control {
  readonly #connection: FramedConnection
  hasSettings = false
  /** The initial window of streams, as the peer has set it. */
  peerWindow = windowDefault
  #peerStreamsMax = Number.POSITIVE_INFINITY

  constructor(connection: FramedConnection) {
    this.#connection = connection
  }

  /** @throws ConnectionError */
  onFrame(type: number, flags: number, streamId: number, payload: Buffer): void {
    if (type !== frameType.resetStream)
      this.#connection.guard?.countControlFrame(frameHeadBytes + payload.length)
    switch (type) {
      case frameType.windowUpdate:
        this.#onWindowUpdate(streamId, payload)
        return
      case frameType.resetStream:
        this.#onReset(streamId, payload)
        return
      case frameType.settings:
        this.#onSettings(flags, streamId, payload)
        return
      case frameType.ping:
        this.#onPing(flags, streamId, payload)
        return
      case frameType.goaway:
        if (streamId !== 0) throw protocolError('GOAWAY is on a stream')
        if (payload.length < 8) throw frameSizeError('GOAWAY')
        this.#connection.events.onGoaway(uint31At(payload, 0), uint32At(payload, 4))
        return
      case frameType.priority:
        this.#onPriority(streamId, payload)
        return
      case frameType.pushPromise:
        throw protocolError('PUSH_PROMISE was not allowed')
      // Unknown types are ignored (RFC 9113 5.5).
    }
  }

  /** @throws ConnectionError if nobody has opened the stream */
  assertNotIdle(streamId: number): void {
    const { options, closedStreams, lastOpenedId } = this.#connection
    const isOfClient = streamId % 2 === 1
    const isOfPeer = isOfClient === options.isServer
    if (streamId > (isOfPeer ? closedStreams.lastPeerId : isOfClient ? lastOpenedId : 0))
      throw protocolError('a frame is on an idle stream')
  }

  #onSettings(flags: number, streamId: number, payload: Buffer): void {
    if (streamId !== 0) throw protocolError('SETTINGS is on a stream')
    if ((flags & frameFlag.acknowledgement) !== 0) {
      if (payload.length > 0) throw frameSizeError('an acknowledgement of SETTINGS')
      if (!this.hasSettings) throw protocolError('the first frame is not SETTINGS')
      return
    }
    const { settings, smallestTableSize } = readSettings(payload)
    const { enablePush, headerTableSize, initialWindowSize, maxConcurrentStreams } = settings
    // No server may set it (RFC 9113 6.5.2).
    if (enablePush === 1 && !this.#connection.options.isServer) throw protocolError('a server enables push')
    this.hasSettings = true
    if (smallestTableSize !== undefined) this.#connection.encoder.limitTable(smallestTableSize)
    if (headerTableSize !== undefined) this.#connection.encoder.limitTable(headerTableSize)
    if (initialWindowSize !== undefined) this.#changeWindows(initialWindowSize)
    if (maxConcurrentStreams !== undefined) this.#peerStreamsMax = maxConcurrentStreams
    this.#connection.output.frame(frameType.settings, frameFlag.acknowledgement, 0, Buffer.alloc(0))
    this.#connection.events.onSettings(this.#peerStreamsMax)
  }

  /** Also applies to open streams (RFC 9113 6.9.2). */
  #changeWindows(size: number): void {
    const change = size - this.peerWindow
    this.peerWindow = size
    for (const stream of this.#connection.streams)
      if (!stream.widen(change))
        throw new ConnectionError(errorCode.flowControlError, `a window is larger than ${windowMax} bytes`)
  }

  #onPing(flags: number, streamId: number, payload: Buffer): void {
    if (streamId !== 0) throw protocolError('PING is on a stream')
    if (payload.length !== 8) throw frameSizeError('PING')
    if ((flags & frameFlag.acknowledgement) !== 0) {
      this.#connection.pings.onAnswer(payload)
      return
    }
    this.#connection.output.frame(frameType.ping, frameFlag.acknowledgement, 0, payload)
    this.#connection.events.onPing()
  }

  #onReset(streamId: number, payload: Buffer): void {
    if (streamId === 0) throw protocolError('RST_STREAM is not on a stream')
    if (payload.length !== 4) throw frameSizeError('RST_STREAM')
    const stream = this.#connection.streams.get(streamId)
    if (stream === undefined) this.assertNotIdle(streamId)
    // After a complete response nothing is wasted: gRPC clients reset calls that end before they have sent everything.
    if (stream === undefined || stream.hasSentEnd)
      this.#connection.guard?.countControlFrame(frameHeadBytes + payload.length)
    else this.#connection.guard?.countWastedStream()
    stream?.onLost(uint32At(payload, 0))
  }

  #onWindowUpdate(streamId: number, payload: Buffer): void {
    if (payload.length !== 4) throw frameSizeError('WINDOW_UPDATE')
    const bytes = uint31At(payload, 0)
    if (streamId === 0) {
      if (bytes === 0) throw protocolError('a window grows by 0')
      this.#connection.sender.widen(bytes)
      return
    }
    const stream = this.#connection.streams.get(streamId)
    if (stream === undefined) this.assertNotIdle(streamId)
    else if (bytes === 0) stream.refuse(errorCode.protocolError)
    else if (!stream.widen(bytes)) stream.refuse(errorCode.flowControlError)
  }

  /** Priorities are not used (RFC 9113 5.3.2). */
  #onPriority(streamId: number, payload: Buffer): void {
    if (streamId === 0) throw protocolError('PRIORITY is not on a stream')
    if (payload.length !== 5) throw frameSizeError('PRIORITY')
    assertOtherStream(streamId, uint31At(payload, 0))
  }
}

/** The PINGs of this side that have not been answered (RFC 9113 6.7). */
export class Pings {
  readonly #awaited = new Map<number, () => void>()
  #count = 0

  /** @param onAnswered called once the peer has read everything sent before @returns the payload of a new one */
  create(onAnswered: () => void): Buffer {
    const payload = Buffer.alloc(8)
    payload.writeUInt32BE(++this.#count, 4)
    this.#awaited.set(this.#count, onAnswered)
    return payload
  }

  onAnswer(payload: Buffer): void {
    const number = payload.readUInt32BE(4)
    this.#awaited.get(number)?.()
    this.#awaited.delete(number)
  }
}
