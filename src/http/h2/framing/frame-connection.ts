import type { Socket } from 'node:net'
import type { MonotonicMs } from '#platform/time.ts'
import { DirectSocketReader } from '../../socket-reader.ts'
import { HpackEncoder } from '../hpack/encoder.ts'
import {
  type ConnectionEvents,
  type FrameConnectionOptions,
  type FramedConnection,
  Pings,
} from './control.ts'
import { FrameDispatcher } from './dispatcher.ts'
import { writeFieldBlock } from './field-block.ts'
import { FloodGuard } from './flood-guard.ts'
import { FrameOutput } from './frame-output.ts'
import { FrameStream } from './frame-stream.ts'
import { preface } from './preface.ts'
import { ConnectionError, errorCode, frameFlag, frameType, windowDefault, writeSettings } from './protocol.ts'
import { Sender } from './sender.ts'
import { ClosedStreams, StreamTable } from './stream-table.ts'
import type { FieldWriter, HeldEnd } from './streams.ts'

/** How much may be unsent before reading stops, as the answers to control frames have no flow control. */
const unsentBytesMax = 262_144
/** How long the peer has to read why its connection was ended. */
const lingeringMs = 1_000

/** An HTTP/2 connection, to a client or to a server (RFC 9113): frames, streams and flow control. */
export class FrameConnection implements FramedConnection {
  readonly socket: Socket
  readonly output: FrameOutput
  readonly sender: Sender
  readonly receiveWindow: number
  readonly streams = new StreamTable<FrameStream>()
  readonly options: FrameConnectionOptions
  readonly events: ConnectionEvents
  readonly encoder = new HpackEncoder()
  readonly guard: FloodGuard | undefined
  readonly closedStreams = new ClosedStreams()
  readonly #reader: DirectSocketReader
  readonly #dispatcher: FrameDispatcher
  #isReading = true
  readNumber = 0
  /** Whether it neither reads nor sends frames any more. */
  isClosed = false
  heldEnds: Set<HeldEnd> | undefined
  #nextStreamId = 1
  readonly pings = new Pings()

  constructor(socket: Socket, options: FrameConnectionOptions, events: ConnectionEvents) {
    this.socket = socket
    this.options = options
    this.events = events
    this.receiveWindow = options.settings.initialWindowSize ?? windowDefault
    this.output = new FrameOutput(socket)
    this.sender = new Sender(this.output)
    this.#dispatcher = new FrameDispatcher(this)
    this.guard = options.isServer
      ? new FloodGuard(() => this.#dispatcher.messageBytes + this.output.messageBytes)
      : undefined
    this.#reader = new DirectSocketReader(socket, (chunk) => this.receive(chunk))
    socket
      .on('drain', this.#onDrain)
      .on('end', this.#onLost)
      .on('error', this.#onLost)
      .on('close', this.#onLost)
    if (!options.isServer) socket.write(preface)
    this.output.frame(frameType.settings, 0, 0, writeSettings(options.settings))
    this.output.number(frameType.windowUpdate, 0, options.windowBytes - windowDefault)
  }

  /** Opens a stream to a server. */
  openStream(): FrameStream {
    const stream = new FrameStream(this, this.#nextStreamId, this.#dispatcher.peerWindow)
    this.#nextStreamId += 2
    stream.awaitsHead = true
    this.streams.add(stream)
    return stream
  }

  /** Whether a stream ID is left for one more stream. */
  get hasStreamIds(): boolean {
    return this.#nextStreamId < 2 ** 31 - 1
  }

  get lastOpenedId(): number {
    return this.#nextStreamId - 2
  }

  /** Since when the peer owes the rest of a head, or of another frame that is not DATA; Infinity = it owes nothing. */
  get unfinishedSince(): MonotonicMs {
    return this.#dispatcher.unfinishedSince
  }

  writeBlock(streamId: number, write: FieldWriter, isLast: boolean): void {
    const { encoder, output } = this
    encoder.begin()
    write(encoder)
    writeFieldBlock(output, streamId, encoder.end(), isLast)
  }

  writeEnd(streamId: number): void {
    if (!this.output.endWithData(streamId))
      this.output.frame(frameType.data, frameFlag.endStream, streamId, Buffer.alloc(0))
  }

  writeReset(streamId: number, code: number): void {
    this.closedStreams.addReset(streamId)
    if (!this.isClosed) this.output.number(frameType.resetStream, streamId, code)
  }

  writeWindowUpdate(streamId: number, bytes: number): void {
    if (!this.isClosed) this.output.number(frameType.windowUpdate, streamId, bytes)
  }

  countWasted(): void {
    this.guard?.countWastedStream()
  }

  onStreamClosed(stream: FrameStream): void {
    this.streams.remove(stream)
  }

  /** @param onAnswered called once the peer has read everything sent before */
  ping(onAnswered: () => void): void {
    this.output.frame(frameType.ping, 0, 0, this.pings.create(onAnswered))
  }

  writeGoaway(lastStreamId: number, code: number): void {
    const payload = Buffer.alloc(8)
    payload.writeUInt32BE(lastStreamId, 0)
    payload.writeUInt32BE(code, 4)
    this.output.frame(frameType.goaway, 0, 0, payload)
  }

  /** Holds back the ends of streams, until `releaseEnds`. */
  holdEnds(): void {
    this.heldEnds ??= new Set()
  }

  releaseEnds(): void {
    const held = this.heldEnds
    this.heldEnds = undefined
    for (const stream of held ?? []) stream.sendEnd()
  }

  /** From now on, new streams of the peer are ignored. @returns the ID of the last accepted one */
  refuseStreams(): number {
    this.closedStreams.lastAccepted = this.closedStreams.lastPeerId
    return this.closedStreams.lastAccepted
  }

  /** Ends the connection, with what has been written. */
  end(): void {
    this.#finish(undefined)
  }

  /** Ends the connection because of what the peer did. */
  fail(error: ConnectionError): void {
    if (this.isClosed) return
    const { lastPeerId, lastAccepted } = this.closedStreams
    this.writeGoaway(Math.min(lastPeerId, lastAccepted), error.code)
    this.#finish(error)
  }

  #finish(error: ConnectionError | undefined): void {
    if (this.isClosed) return
    this.output.flush()
    this.#close(error)
    // Reading stops after a flood; a reset may then overtake the reason.
    if (error?.code === errorCode.enhanceYourCalm) {
      this.#reader.pause()
      this.socket.destroySoon()
    } else this.socket.end()
    this.#destroyLater()
  }

  #destroyLater(): void {
    setTimeout(() => this.socket.destroy(), lingeringMs).unref()
  }

  /** Stops answering, although the socket may take some turns of the event loop to close. */
  readonly #onLost = (): void => {
    if (this.isClosed) return
    this.#close(undefined)
    this.#destroyLater()
  }

  #close(error: ConnectionError | undefined): void {
    this.isClosed = true
    // The owner is told first: a request that fails with its stream may be repeated at once, on another connection.
    this.events.onClose(error)
    for (const stream of this.streams) stream.onLost(error === undefined ? errorCode.cancel : error.code)
  }

  /**
   * @param chunk what has been read
   * @returns whether it is released
   */
  receive(chunk: Buffer): boolean {
    // Input after the end is read and dropped: left unread, it would make the system reset the connection, perhaps
    // before the peer has read the reason.
    if (this.isClosed) return true
    this.readNumber++
    try {
      this.#dispatcher.feed(chunk)
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      this.fail(error)
    }
    if (this.output.unsentBytes > unsentBytesMax && !this.isClosed) {
      this.#isReading = false
      this.#reader.pause()
      this.output.flush()
    }
    return this.#dispatcher.isReleased
  }

  readonly #onDrain = (): void => {
    this.output.onDrain()
    if (this.isClosed) return
    this.sender.onDrain()
    if (this.#isReading) return
    this.#isReading = true
    this.#reader.resume()
  }
}
