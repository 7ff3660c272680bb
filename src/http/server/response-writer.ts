import { copyString } from '#platform/text.ts'
import type { ResponseFraming } from '../client-exchange.ts'
import { smallChunkBytesMax } from '../read-memory.ts'
import { mustWriteNow } from '../socket-writes.ts'
import { type DeferredWrite, deferWrite } from '../turn.ts'
import type { ClientSocket } from './client-socket.ts'

interface ResponseStart {
  readonly status: number
  readonly reason: string
  /** Field lines, in Latin-1: without those about the connection. */
  readonly lines: string
  readonly framing: ResponseFraming
}

/** How long a connection is kept for another request, and how the client is told. */
export interface KeepAlive {
  readonly timeoutMs: number
  /** The lines that announce it, and the empty line after them. */
  readonly lines: string
}

export function keepAliveOf(timeoutMs: number): KeepAlive {
  const seconds = Math.floor(timeoutMs / 1_000)
  return { timeoutMs, lines: `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n\r\n` }
}

/**
 * Writes one response after another to a socket. Small data is buffered until `flush`, so that head and data are sent
 * together: as Latin-1 text, which is cheaper to join than buffers.
 */
export class ResponseWriter implements DeferredWrite {
  readonly #socket: ClientSocket
  #buffered = ''
  framing: ResponseFraming = 'none'
  /** Whether the buffered text will be written at the end of this turn of the event loop. */
  isDeferred = false
  /** Set while the end of the response is still to be written. */
  #onWritten: (() => void) | undefined
  /** Whether a part of the current response was sent; the owner resets it when all of it was. */
  hasBegun = false
  /** The keep-alive last announced to the client, which holds even if the setting has changed. */
  announcedKeepAlive: KeepAlive

  /** @param keepAlive holds until one is announced to the client */
  constructor(socket: ClientSocket, keepAlive: KeepAlive) {
    this.#socket = socket
    this.announcedKeepAlive = keepAlive
  }

  /** Whether the response is complete, and its end is still to be written. */
  get isEnding(): boolean {
    return this.#onWritten !== undefined
  }

  /**
   * Sends a 1xx immediately.
   * @param lines field lines, in Latin-1
   * @returns false if more should wait until the socket has drained
   */
  writeInformation(status: number, reason: string, lines: string): boolean {
    return this.#socket.stream.write(`HTTP/1.1 ${status} ${reason}\r\n${lines}\r\n`, 'latin1')
  }

  /**
   * Begins a response, or replaces one of which nothing has been sent.
   * @param keepAlive undefined = the connection ends with it
   */
  begin({ status, reason, lines, framing }: ResponseStart, keepAlive: KeepAlive | undefined): void {
    const coding = framing === 'chunked' ? 'Transfer-Encoding: chunked\r\n' : ''
    const ending = keepAlive?.lines ?? 'Connection: close\r\n\r\n'
    this.announcedKeepAlive = keepAlive ?? this.announcedKeepAlive
    // Hot: not a template literal, which first makes a string of each number.
    this.#buffered = statusLine(status, reason) + lines + coding + ending
    this.framing = framing
  }

  /** @returns false where more should wait until the socket has drained */
  write(chunk: Buffer): boolean {
    if (this.framing === 'none' || chunk.length === 0) return true
    const isChunked = this.framing === 'chunked'
    if (chunk.length > smallChunkBytesMax) return this.#writeLarge(chunk, isChunked)
    const text = chunk.toString('latin1')
    this.#buffered += isChunked ? `${chunk.length.toString(16)}\r\n${text}\r\n` : text
    return this.#buffered.length <= smallChunkBytesMax || this.#writeBuffered()
  }

  /**
   * Sends what is buffered, at the end of this turn of the event loop.
   * @returns false where more should wait until the socket has drained
   */
  flush(): boolean {
    if (this.#buffered === '') return true
    if (mustWriteNow(this.#socket, this.#buffered.length)) return this.#writeBuffered()
    this.hasBegun = true
    deferWrite(this)
    return true
  }

  #writeBuffered(): boolean {
    const buffered = this.#buffered
    this.#buffered = ''
    this.hasBegun = true
    return this.#socket.stream.write(buffered, 'latin1')
  }

  /**
   * Completes the response; its end is written at the end of this turn of the event loop.
   * @param last the rest of a counted body as text in Latin-1
   * @param trailers those after chunks: field lines, each ended by CR LF
   * @param onWritten called once everything was passed to the system, or cannot be; not if the socket is destroyed
   * first
   */
  end(last: string, trailers: string, onWritten: () => void): void {
    if (this.framing === 'chunked') this.#buffered += `0\r\n${trailers}\r\n`
    else if (this.framing === 'counted') this.#buffered += last
    this.framing = 'none'
    this.hasBegun = true
    this.#onWritten = onWritten
    deferWrite(this)
  }

  /** Writes the deferred parts of the response, unless its end is among them: called before it is aborted. */
  writeParts(): void {
    if (this.#onWritten === undefined) this.writeNow()
  }

  /** Writes what was deferred, before anything else happens on the connection. */
  writeNow(): void {
    if (!this.isDeferred) return
    this.isDeferred = false
    const buffered = this.#buffered
    const onWritten = this.#onWritten
    this.#buffered = ''
    this.#onWritten = undefined
    if (this.#socket.destroyed) return
    if (onWritten === undefined) {
      if (buffered !== '') this.#socket.stream.write(buffered, 'latin1')
      return
    }
    // Not if it is empty: within a read, TLS would deliver the next record before this one is handled.
    if (this.#socket.isEncrypted && buffered !== '') this.#socket.stream.write(buffered, 'latin1', onWritten)
    else this.#writeLast(buffered, onWritten)
  }

  /** Nearly always the system accepts it at once, and no callback is needed. */
  #writeLast(buffered: string, onWritten: () => void): void {
    const socket = this.#socket
    const isWritten = buffered === '' ? undefined : socket.writeDirectly(buffered, onWritten)
    if (isWritten !== undefined) {
      if (isWritten) onWritten()
      return
    }
    if (buffered !== '') socket.stream.write(buffered, 'latin1')
    if (socket.writableLength === 0 && !socket.errored) onWritten()
    else socket.stream.write('', 'latin1', onWritten)
  }

  #writeLarge(chunk: Buffer, isChunked: boolean): boolean {
    const socket = this.#socket.stream
    if (!isChunked && this.#buffered === '') return socket.write(chunk)
    socket.cork()
    if (isChunked) this.#buffered += `${chunk.length.toString(16)}\r\n`
    this.#writeBuffered()
    const isFlowing = socket.write(chunk)
    const isEndFlowing = isChunked ? socket.write('\r\n', 'latin1') : isFlowing
    socket.uncork()
    return isEndFlowing
  }
}

const last = { status: 0, reason: '', line: '' }

/** Most responses have the same status line as the one before. */
function statusLine(status: number, reason: string): string {
  if (status !== last.status || reason !== last.reason) {
    last.status = status
    last.reason = copyString(reason)
    last.line = copyString(`HTTP/1.1 ${status} ${reason}\r\n`)
  }
  return last.line
}
