import type { Socket } from 'node:net'
import type { MonotonicMs } from '#platform/time.ts'
import { chunksPerTurnMax } from '../message/chunked-decoder.ts'
import { ownedCopy } from '../read-memory.ts'
import { DirectSocketReader, type PooledSocketReader, type SocketReader } from '../socket-reader.ts'
import { hasWrittenAll } from '../socket-writes.ts'
import { catchWriteErrors, closeConnection, handOverSocket, reusableMs } from './connection-socket.ts'
import { endFailure, readFailure, UpstreamFailure } from './failure.ts'
import { RequestSender } from './request-sender.ts'
import type { ConnectionPersistence, ResponseEvents, ResponseHead } from './response-head.ts'
import { ResponseParser } from './response-parser.ts'
import { StallDeadline, stallSweep } from './stall-deadline.ts'
import {
  noHolder,
  type RequestOptions,
  type UpstreamConnection,
  type UpstreamResponseEvents,
} from './upstream-connection.ts'

/** How long to wait for stray bytes after a chunked request; they close the connection. */
const strayBytesGraceMs = 150
/** How long to continue reading a response that the target sent before it stopped reading. */
const drainGraceMs = 1_000

/** One HTTP/1.1 connection to a target: one request at a time, reused as long as both sides agree. */
export class Http1Connection implements UpstreamConnection {
  readonly socket: Socket
  readonly #reader: SocketReader
  readonly #sender: RequestSender
  readonly #deadline = new StallDeadline(() =>
    this.fail(this.#deadline.failure(!this.socket.writableNeedDrain)),
  )
  holder = noHolder
  isBound = false
  #events: UpstreamResponseEvents | undefined
  readonly #parser: ResponseParser
  /** The body option of the last request: all options would keep the request itself in memory. */
  #body: RequestOptions['body'] = 'none'
  #isLast = false
  #persistence: ConnectionPersistence | undefined
  #isEarlyResponse = false
  #isHandedOver = false
  /** Set once the target has stopped reading the body. */
  #drainTimer: NodeJS.Timeout | undefined
  /** Until when it may be reused. */
  reusableUntil: MonotonicMs = 0
  /** Whether it has carried a request before. */
  isReused = false
  readonly mayRefuse = false
  /** Reuse waits until this time, as some targets still answer chunks that they left unread. */
  reusableFrom: MonotonicMs = 0

  /** @param reader given if the socket was created with it */
  constructor(socket: Socket, reader?: PooledSocketReader) {
    this.socket = socket
    this.#reader =
      reader?.attach(socket, this.#receive, this.#mayDefer) ?? new DirectSocketReader(socket, this.#receive)
    this.#sender = new RequestSender(socket)
    this.#parser = new ResponseParser(this.#responseEvents)
    const deliver = () => this.#reader.deliverDeferred()
    socket.on('drain', deliver).on('end', deliver).on('error', deliver)
    socket.on('drain', this.#onDrain).on('end', this.#onEnd)
    socket.on('error', this.#onError).on('close', this.#onClose)
    stallSweep.add(this.#deadline)
  }

  get isOpen(): boolean {
    return !this.socket.destroyed
  }

  get pausedAt(): MonotonicMs {
    return this.#deadline.pausedAt
  }

  get hasWrittenAll(): boolean {
    return hasWrittenAll(this.socket)
  }

  start(head: string, options: RequestOptions, events: UpstreamResponseEvents, now: MonotonicMs): void {
    this.#events = events
    const { body, isLast, bindsConnection } = options
    if (bindsConnection) this.isBound = true
    this.#body = body
    this.#isLast = isLast
    this.#parser.begin(options)
    this.#isEarlyResponse = false
    this.#persistence = undefined
    if (body !== 'none') catchWriteErrors(this.socket, this.#mayStillAnswer, this.#onWriteError)
    this.#sender.begin(head, body)
    this.#deadline.start(options, now)
  }

  redirect(events: UpstreamResponseEvents): void {
    if (this.#events !== undefined) this.#events = events
  }

  write(chunk: Buffer): boolean {
    this.#deadline.onRequestData()
    return this.#sender.write(chunk)
  }

  finish(trailers: string): void {
    this.#sender.end(trailers)
    this.#deadline.onRequestEnd()
    if (this.#events && this.#parser.isComplete) this.#complete(true)
  }

  pause(): void {
    this.#deadline.pause()
    this.#reader.pause()
  }

  resume(): void {
    if (!this.#deadline.isPaused) return
    this.#deadline.resume()
    this.#reader.resume()
  }

  /** Cancels the request and closes the connection, without further events. */
  destroy(): void {
    this.#events = undefined
    this.#clearDeadline()
    this.socket.destroy()
  }

  readonly #responseEvents: ResponseEvents = {
    onInformation: (head) => {
      this.#deadline.onInformation(head.status)
      this.#events?.onInformation(head)
    },
    onHead: (head, persistence, framing) => {
      this.#deadline.onHead()
      // The rest of the request may never be read.
      this.#isEarlyResponse =
        !this.#deadline.isRequestSent || this.#sender.isWriting || this.socket.writableLength > 0
      this.#persistence = persistence
      if (persistence.bindsConnection) this.isBound = true
      this.#events?.onHead(head, framing)
    },
    onData: (chunk) => this.#events?.onData(chunk),
    onEnd: (trailers, last) => this.#events?.onEnd(trailers, last),
    onUpgrade: (head, rest) => this.#handOver(head, rest),
  }

  /** What comes while no response can is noticed at once: later it could be taken for one. */
  readonly #mayDefer = (): boolean => this.#events !== undefined && !this.#sender.isPending

  /** The events may destroy the connection. @returns whether the chunk is released */
  readonly #receive = (chunk: Buffer): boolean => {
    // An unsolicited response must never become the response to the next request.
    if (!this.#events) {
      this.destroy()
      return false
    }
    try {
      if (this.#sender.isPending) throw new UpstreamFailure('closed-early', 'the target answered too early')
      this.#sender.writeNow()
      const rest = this.#parser.feed(chunk)
      if (this.#isHandedOver) return false
      if (!this.#parser.isComplete) {
        this.#deadline.postpone()
        if (this.#parser.chunksRead > chunksPerTurnMax) this.#reader.yieldTurn()
        return this.#events?.onRead() ?? false
      }
      this.#complete(rest.length === 0)
    } catch (error) {
      this.fail(readFailure(error))
    }
    return false
  }

  readonly #onDrain = (): void => this.#events?.onDrain()

  readonly #onEnd = (): void => {
    // After a failed write, the end may be due to a reset: it does not complete a response that lasts until close.
    if (this.#drainTimer) {
      this.fail(new UpstreamFailure('closed-early', 'the target stopped reading the request body'))
      return
    }
    try {
      if (this.#events) this.#parser.finish()
      this.#complete(false)
    } catch (error) {
      this.fail(endFailure(error))
    }
  }

  readonly #onError = (cause: Error): void => {
    this.fail(new UpstreamFailure('closed-early', 'the connection to the target failed', cause))
  }

  readonly #onClose = (): void => {
    stallSweep.remove(this.#deadline)
    this.fail(new UpstreamFailure('closed-early', 'the connection to the target was closed'))
    this.holder.onFree(false)
  }

  /**
   * Completes the response. Another request may follow only if nothing of this exchange can be mistaken for its
   * response.
   */
  #complete(isClean: boolean): void {
    this.#clearDeadline()
    this.#events = undefined
    const persistence = this.#persistence
    const isOver =
      !isClean || this.#isEarlyResponse || this.#drainTimer !== undefined || !persistence?.isPersistent
    if (isOver || this.socket.destroyed || persistence.mayHaveStrayBody || this.#isLast) {
      closeConnection(this.socket, { isExpected: isOver })
      return
    }
    this.reusableFrom = this.#body === 'chunked' ? stallSweep.sweptAt + strayBytesGraceMs : 0
    this.reusableUntil = stallSweep.sweptAt + reusableMs(persistence)
    this.isReused = true
    this.#reader.resume()
    this.holder.onFree(true)
  }

  #handOver(head: ResponseHead, rest: Buffer): void {
    this.#clearDeadline()
    stallSweep.remove(this.#deadline)
    this.#isHandedOver = true
    handOverSocket(this.socket, this.#reader)
    this.#events?.onUpgrade(head, this.socket, ownedCopy(rest))
    this.#events = undefined
  }

  /** A target that closes during the request's body may have sent the reason, such as a 413, which is still read. */
  readonly #mayStillAnswer = (): boolean => this.#body !== 'none'

  readonly #onWriteError = (error: Error): boolean => {
    if (!this.#events) return false
    this.#drainTimer ??= setTimeout(() => this.#onError(error), drainGraceMs)
    this.#deadline.freeze()
    return true
  }

  fail(failure: UpstreamFailure): void {
    const events = this.#events
    const mayBeUnsent = this.isReused && failure.reason !== 'internal'
    const unsent = mayBeUnsent ? this.#sender.unsent(failure, this.#deadline.isRequestSent) : undefined
    this.destroy()
    events?.onFailure(unsent ?? failure)
  }

  #clearDeadline(): void {
    this.#deadline.stop()
    clearTimeout(this.#drainTimer)
  }
}
