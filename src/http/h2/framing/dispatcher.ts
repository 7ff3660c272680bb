import { monotonicClock } from '#platform/time.ts'
import { HpackDecoder } from '../hpack/decoder.ts'
import { CompressionError } from '../hpack/tables.ts'
import { Control, type FieldList, type FramedConnection } from './control.ts'
import { BlockReader, type FieldBlock } from './field-block.ts'
import { areTrailers, hasUsualName } from './fields.ts'
import { type FrameEvents, FrameReader } from './frame-reader.ts'
import { FrameStream } from './frame-stream.ts'
import { Preface } from './preface.ts'
import { ConnectionError, errorCode, frameHeadBytes, frameType, protocolError } from './protocol.ts'

/** Passes received frames to the streams that they belong to (RFC 9113 5.1, 6). */
export class FrameDispatcher implements FrameEvents {
  readonly #connection: FramedConnection
  readonly #frames = new FrameReader(this)
  readonly #blocks: BlockReader
  readonly #decoder: HpackDecoder
  readonly #control: Control
  /** undefined = it has been read, or the peer is a server, which sends none. */
  #preface: Preface | undefined
  #window: number
  #unreported = 0
  /** The stream whose data is being read; undefined = the data is ignored. */
  #dataStream: FrameStream | undefined
  /** Whether the last chunk is released. */
  isReleased = true
  /** Since when the peer owes the rest of its first frames, a field block or a frame; Infinity = it owes nothing. */
  unfinishedSince = monotonicClock()
  /** How many field blocks and frames have ended; a DATA frame counts when it begins. */
  #finished = 0
  /** The bytes of the current DATA frame, and of all message frames so far. */
  #dataBytes = 0
  messageBytes = 0

  constructor(connection: FramedConnection) {
    const { isServer, headSizeMax, windowBytes } = connection.options
    this.#connection = connection
    this.#decoder = new HpackDecoder(isServer ? hasUsualName : undefined)
    this.#window = windowBytes
    this.#blocks = new BlockReader(headSizeMax)
    this.#control = new Control(connection)
    this.#preface = isServer ? new Preface() : undefined
  }

  /** The peer's window for a new stream. */
  get peerWindow(): number {
    return this.#control.peerWindow
  }

  /** Sets isReleased, even if it throws. @throws ConnectionError */
  feed(chunk: Buffer): void {
    this.isReleased = true
    const finished = this.#finished
    const rest = this.#preface === undefined ? chunk : this.#preface.read(chunk)
    if (this.#preface?.isRead === true) this.#preface = undefined
    if (rest.length > 0) this.#frames.feed(rest)
    const { hasSettings } = this.#control
    if (hasSettings && this.#blocks.openStreamId === 0 && !this.#frames.isWithinFrame)
      this.unfinishedSince = Number.POSITIVE_INFINITY
    else if (finished !== this.#finished || this.unfinishedSince === Number.POSITIVE_INFINITY)
      this.unfinishedSince = monotonicClock()
  }

  onFrame(type: number, flags: number, streamId: number, payload: Buffer): void {
    // An earlier frame of the same chunk may have ended the connection.
    if (this.#connection.isClosed) return
    if (this.#blocks.openStreamId !== 0 && type !== frameType.continuation)
      throw protocolError('a field block is interrupted')
    if (!this.#control.hasSettings && type !== frameType.settings)
      throw protocolError('the first frame is not SETTINGS')
    if (type === frameType.headers) this.#onBlock(this.#blocks.readHeaders(flags, streamId, payload))
    else if (type === frameType.continuation)
      this.#onBlock(this.#blocks.readContinuation(flags, streamId, payload))
    else this.#control.onFrame(type, flags, streamId, payload)
    if (this.#blocks.openStreamId === 0) this.#finished++
  }

  onDataStart(streamId: number, length: number): void {
    this.#dataStream = undefined
    if (this.#connection.isClosed) return
    this.#finished++
    if (this.#blocks.openStreamId !== 0 || !this.#control.hasSettings || streamId === 0)
      throw protocolError('a DATA frame is out of place')
    this.#countWindow(length)
    this.#dataBytes = frameHeadBytes + length
    const stream = this.#connection.streams.get(streamId)
    if (stream === undefined) this.#onClosedData(streamId)
    else if (stream.awaitsHead) stream.refuse(errorCode.protocolError)
    else if (stream.body.begin(length)) this.#dataStream = stream
  }

  onData(chunk: Buffer): void {
    const stream = this.#dataStream
    if (stream !== undefined && !stream.isClosed && !stream.body.add(chunk)) this.isReleased = false
  }

  onDataEnd(isLast: boolean, isEmpty: boolean): void {
    const stream = this.#dataStream
    if (isEmpty && !isLast) this.#connection.guard?.countControlFrame(this.#dataBytes)
    else if (stream !== undefined) this.messageBytes += this.#dataBytes
    if (stream !== undefined && !stream.isClosed) stream.body.endFrame(isLast)
  }

  #countWindow(length: number): void {
    this.#window -= length
    if (this.#window < 0)
      throw new ConnectionError(errorCode.flowControlError, 'the window of the connection is exceeded')
    this.#unreported += length
    if (this.#unreported < this.#connection.options.windowBytes / 2) return
    // Data counts as soon as it has arrived: unread, it would hold up other streams. Its stream's window bounds it.
    this.#connection.writeWindowUpdate(0, this.#unreported)
    this.#window += this.#unreported
    this.#unreported = 0
  }

  #onBlock(block: FieldBlock | undefined): void {
    if (block === undefined) return
    const { streamId, isLast } = block
    this.messageBytes += frameHeadBytes + block.bytes.length
    // Decoded in any case, as both sides have to keep the same table.
    const list = this.#decode(block.bytes)
    const stream = this.#connection.streams.get(streamId)
    if (stream !== undefined) this.#onFurtherBlock(stream, list, isLast)
    else if (!this.#connection.options.isServer || streamId <= this.#connection.closedStreams.lastPeerId)
      this.#onClosedBlock(streamId)
    else this.#onNewStream(streamId, list, isLast)
  }

  #decode(bytes: Buffer): FieldList {
    const fields: string[] = []
    try {
      const isWhole = this.#decoder.decode(bytes, fields, this.#connection.options.headSizeMax())
      return { fields, isWhole, areChecked: this.#decoder.areChecked }
    } catch (error) {
      if (!(error instanceof CompressionError)) throw error
      throw new ConnectionError(errorCode.compressionError, error.message)
    }
  }

  #onNewStream(streamId: number, list: FieldList, isLast: boolean): void {
    if (streamId % 2 === 0) throw protocolError('a client opens a server stream')
    const connection = this.#connection
    connection.closedStreams.open(streamId)
    if (connection.closedStreams.isIgnored(streamId)) return
    if (connection.streams.size >= connection.options.streamsMax) {
      connection.countWasted()
      connection.writeReset(streamId, errorCode.refusedStream)
      return
    }
    const stream = new FrameStream(connection, streamId, this.#control.peerWindow)
    connection.streams.add(stream)
    if (isLast) stream.body.skip()
    connection.events.onStream(stream, list, isLast)
  }

  /** Handles a response, or trailers. */
  #onFurtherBlock(stream: FrameStream, { fields, isWhole }: FieldList, isLast: boolean): void {
    if (stream.body.hasEnded) stream.refuse(errorCode.streamClosed)
    else if (stream.awaitsHead) {
      stream.events?.onHead?.(fields, isWhole, isLast)
      if (isLast && !stream.isClosed) stream.body.end([])
    } else if (!isLast || !isWhole || !areTrailers(fields, this.#connection.options.isServer))
      stream.refuse(errorCode.protocolError)
    else stream.body.end(fields)
  }

  /** Data for a stream that is not open. */
  #onClosedData(streamId: number): void {
    this.#control.assertNotIdle(streamId)
    if (this.#connection.closedStreams.isIgnored(streamId)) return
    this.#connection.countWasted()
    this.#connection.writeReset(streamId, errorCode.streamClosed)
  }

  /** Fields for a stream that is not open: none can follow its end (RFC 9113 5.1). */
  #onClosedBlock(streamId: number): void {
    this.#control.assertNotIdle(streamId)
    if (this.#connection.closedStreams.isIgnored(streamId)) return
    if (this.#connection.options.isServer && this.#connection.closedStreams.hasSkipped)
      throw protocolError('a stream is opened out of order')
    throw new ConnectionError(errorCode.streamClosed, 'fields come after the end of their stream')
  }
}
