import type { Socket } from 'node:net'
import { preface } from '../../h1/preface.ts'
import { DirectSocketReader } from '../../h1/socket-reader.ts'
import { HpackEncoder } from '../hpack/encoder.ts'
import { Pings } from './control.ts'
import { FrameDispatcher, type FrameTarget } from './dispatcher.ts'
import { writeFieldBlock } from './field-block.ts'
import { FrameOutput } from './output.ts'
import { ConnectionError, errorCode, frameFlag, frameType, windowDefault } from './protocol.ts'
import { Sender } from './sender.ts'
import { type Settings, writeSettings } from './settings.ts'
import { FrameStream } from './stream.ts'
import type { FieldWriter, HeldEnd, StreamConnection } from './stream-connection.ts'
import { StreamTable } from './stream-table.ts'

/** What has to be sent before more is read: frames without flow control are answers to what was read. */
const unsentBytesMax = 262_144
/** How long the peer has to read why its connection ends. */
const lingeringMs = 1_000

interface ConnectionEvents {
  /** The peer opens a stream. @param isWhole whether the fields were not more than `headSizeMax` */
  onStream(stream: FrameStream, fields: string[], isWhole: boolean, isLast: boolean): void
  /** The peer has told its settings, or changed them. */
  onSettings(streamsMax: number): void
  /** Streams above the last one were not processed (RFC 9113 6.8). */
  onGoaway(lastStreamId: number, code: number): void
  /** The peer wants to know whether the connection is alive. */
  onPing(): void
  /** @param error what the peer did to its connection; undefined = it was closed */
  onClose(error: ConnectionError | undefined): void
}

interface ConnectionOptions {
  readonly isServer: boolean
  readonly settings: Settings
  /** How much the peer may send ahead on all streams together; from 65,535. */
  readonly windowBytes: number
  /** How many streams the peer may have open; read at each use. */
  readonly streamsMax: number
  /** Of the fields of one head in octets, as RFC 9113 6.5.2 counts them; read at each use. */
  readonly headSizeMax: () => number
}

/** A connection of HTTP/2, to a client or to a server (RFC 9113): frames, streams and flow control. */
export class FrameConnection implements StreamConnection<FrameStream>, FrameTarget {
  readonly socket: Socket
  readonly output: FrameOutput
  readonly sender: Sender
  readonly receiveWindow: number
  readonly streams = new StreamTable<FrameStream>()
  readonly options: ConnectionOptions
  readonly events: ConnectionEvents
  readonly encoder = new HpackEncoder()
  readonly #reader: DirectSocketReader
  readonly #dispatcher: FrameDispatcher
  #isReading = true
  readNumber = 0
  /** Whether it takes and sends no more frames. */
  isClosed = false
  heldEnds: Set<HeldEnd> | undefined
  #nextStreamId = 1
  readonly #pings = new Pings()

  constructor(socket: Socket, options: ConnectionOptions, events: ConnectionEvents) {
    this.socket = socket
    this.options = options
    this.events = events
    this.receiveWindow = options.settings.initialWindowSize ?? windowDefault
    this.output = new FrameOutput(socket)
    this.sender = new Sender(this.output)
    this.#dispatcher = new FrameDispatcher(this)
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

  /** Whether one more stream can be opened, as far as their numbers go. */
  get hasStreamIds(): boolean {
    return this.#nextStreamId < 2 ** 31 - 1
  }

  get lastOpenedId(): number {
    return this.#nextStreamId - 2
  }

  /** Since when the peer owes the rest of a head, or of another frame that is not DATA; Infinity = it does not. */
  get unfinishedSince(): number {
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
    this.#dispatcher.forgive(streamId)
    if (!this.isClosed) this.output.number(frameType.resetStream, streamId, code)
  }

  writeWindowUpdate(streamId: number, bytes: number): void {
    if (!this.isClosed) this.output.number(frameType.windowUpdate, streamId, bytes)
  }

  countWasted(): void {
    this.#dispatcher.countWasted()
  }

  onStreamClosed(stream: FrameStream): void {
    this.streams.remove(stream)
  }

  /** @param onAnswered called once the peer has read everything sent before */
  ping(onAnswered: () => void): void {
    this.output.frame(frameType.ping, 0, 0, this.#pings.create(onAnswered))
  }

  onPing(): void {
    this.events.onPing()
  }

  onPong(payload: Buffer): void {
    this.#pings.onAnswer(payload)
  }

  writeGoaway(lastStreamId: number, code: number): void {
    const payload = Buffer.alloc(8)
    payload.writeUInt32BE(lastStreamId, 0)
    payload.writeUInt32BE(code, 4)
    this.output.frame(frameType.goaway, 0, 0, payload)
  }

  /** From now on streams do not end, until `releaseEnds`. */
  holdEnds(): void {
    this.heldEnds ??= new Set()
  }

  releaseEnds(): void {
    const held = this.heldEnds
    this.heldEnds = undefined
    for (const stream of held ?? []) stream.sendEnd()
  }

  /** From now on streams that the peer opens are ignored. @returns the last that is not */
  refuseStreams(): number {
    return this.#dispatcher.refuseStreams()
  }

  /** Ends the connection, with what has been written. */
  end(): void {
    this.#finish(undefined)
  }

  /** Ends the connection for what the peer did. */
  fail(error: ConnectionError): void {
    if (this.isClosed) return
    this.writeGoaway(this.#dispatcher.lastPeerStreamId, error.code)
    this.#finish(error)
  }

  #finish(error: ConnectionError | undefined): void {
    if (this.isClosed) return
    this.output.flush()
    this.#close(error)
    // A flood is not read on: the reset may then overtake the reason.
    if (error?.code === errorCode.enhanceYourCalm) {
      this.#reader.pause()
      this.socket.destroySoon()
    } else this.socket.end()
    this.#destroyLater()
  }

  #destroyLater(): void {
    setTimeout(() => this.socket.destroy(), lingeringMs).unref()
  }

  /** Nothing more is answered, though the socket may take some turns of the event loop to close. */
  readonly #onLost = (): void => {
    if (this.isClosed) return
    this.#close(undefined)
    this.#destroyLater()
  }

  #close(error: ConnectionError | undefined): void {
    if (this.isClosed) return
    this.isClosed = true
    // Its owner first: a request that fails with its stream may be repeated at once, and not on this connection.
    this.events.onClose(error)
    for (const stream of this.streams) stream.onLost(error === undefined ? errorCode.cancel : error.code)
  }

  /** @param chunk what has been read @returns whether it is released */
  receive(chunk: Buffer): boolean {
    // What comes after the end is dropped: unread, it would reset the connection before its peer knows why.
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
