import { writeSync, write as writeToDescriptor } from 'node:fs'
import { hasErrorCode } from '../errors/operator-error.ts'

/** Where the log goes: a file descriptor, to which lines are written in batches, without blocking the traffic. */
export interface LogOutput {
  /** Queues a line. Never throws and never waits. */
  write(line: string): void
  /** Calls back once all queued lines are written, or currently cannot be written. */
  flush(done?: () => void): void
  /** For a process that exits: writes the queued lines before it returns, within `stallMsMax`. */
  flushSync(): void
}

export interface LogOutputOptions {
  readonly fd: number
  /** Batches of this size are written immediately; smaller ones within 100 ms. */
  readonly batchBytes: number
  /** Maximum size of one write; a longer line is written separately. */
  readonly chunkBytesMax: number
  /** Called with the number of lost lines, once lines can be written again. */
  readonly onLoss?: (lines: number) => void
}

const flushMs = 100
/** How soon to retry if the reader of a pipe is behind. */
const busyMs = 10
/** Maximum buffer while nothing can be written, for example on a full disk; further lines are lost, and counted. */
const bufferedBytesMax = 8 * 1_024 * 1_024
/** How long a flush waits for a reader that reads nothing; on any other failure it gives up immediately. */
const stallMsMax = 1_000
const sleeper = new Int32Array(new SharedArrayBuffer(4))

/**
 * Opens the output. Lines that cannot be written are buffered, up to 8 MiB, and retried for as long as it takes: a full
 * disk must not stop the traffic. If the reader is gone (EPIPE), logging stops and all lines are dropped.
 */
export function createLogOutput({ fd, batchBytes, chunkBytesMax, onLoss }: LogOutputOptions): LogOutput {
  const chunks = new LineChunks(chunkBytesMax)
  /** The bytes that are being written, or will be retried, before `chunks`. */
  let current: Buffer | undefined
  let bufferedBytes = 0
  let lostLines = 0
  let isWriting = false
  /** Consecutive failures. */
  let failures = 0
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let waiters: (() => void)[] = []

  function write(line: string): void {
    if (isClosed) return
    if (!hasRoom(line)) {
      lostLines++
      return
    }
    bufferedBytes += chunks.add(line)
    if (isWriting) return
    if (bufferedBytes >= batchBytes && failures === 0) writeNext()
    else writeWithin(flushMs)
  }

  function writeWithin(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined
      if (!isWriting) writeNext()
    }, ms).unref()
  }

  /** Counts the bytes of a line only if there may be too many: see LineChunks. */
  function hasRoom(line: string): boolean {
    const room = bufferedBytesMax - bufferedBytes
    return line.length * 3 <= room || Buffer.byteLength(line) <= room
  }

  function writeNext(): void {
    current ??= chunks.take()
    isWriting = current !== undefined
    if (current) writeToDescriptor(fd, current, onWritten)
    else notifyFlushed()
  }

  function onWritten(error: NodeJS.ErrnoException | null, bytes: number): void {
    if (isClosed) return
    if (error) onFailure(error)
    else onProgress(bytes)
  }

  function onProgress(bytes: number): void {
    failures = 0
    const left = unwritten(current, bytes)
    if (current && !left) chunks.release(current)
    current = left
    bufferedBytes -= bytes
    reportLoss()
    isWriting = false
    if (current || bufferedBytes >= batchBytes || waiters.length > 0) writeNext()
    else if (bufferedBytes > 0) writeWithin(flushMs)
  }

  function onFailure(error: NodeJS.ErrnoException): void {
    isWriting = false
    failures++
    const isStalled = !isBusy(error) || failures * busyMs >= stallMsMax
    if (error.code === 'EPIPE') end()
    else writeWithin(isStalled ? flushMs : busyMs)
    if (isStalled) notifyFlushed()
  }

  /** Reported after the buffered lines; while most of these are still unwritten, more may be lost. */
  function reportLoss(): void {
    if (lostLines === 0 || bufferedBytes > bufferedBytesMax / 2) return
    const lines = lostLines
    lostLines = 0
    onLoss?.(lines)
  }

  function end(): void {
    isClosed = true
    clearTimeout(timer)
    chunks.clear()
    current = undefined
  }

  function notifyFlushed(): void {
    const done = waiters
    waiters = []
    for (const waiter of done) waiter()
  }

  function flush(done: () => void = () => {}): void {
    waiters.push(done)
    if (isClosed) notifyFlushed()
    else if (!isWriting) writeNext()
  }

  function flushSync(): void {
    if (isClosed) return
    // A write in progress is left alone: the process does not exit before it is done.
    let left = isWriting ? chunks.take() : (current ?? chunks.take())
    for (let stallMs = 0; left && stallMs < stallMsMax; ) {
      try {
        left = unwritten(left, writeSync(fd, left)) ?? chunks.take()
        stallMs = 0
      } catch (error) {
        if (!isBusy(error)) break
        Atomics.wait(sleeper, 0, 0, busyMs)
        stallMs += busyMs
      }
    }
    end()
  }

  process.once('exit', flushSync)
  return { write, flush, flushSync }
}

function unwritten(chunk: Buffer | undefined, written: number): Buffer | undefined {
  return chunk && chunk.length > written ? chunk.subarray(written) : undefined
}

/** Whether the reader of a pipe is behind. */
function isBusy(error: unknown): boolean {
  return hasErrorCode(error, 'EAGAIN')
}

/** UTF-8 needs at most this many bytes for one unit of a JavaScript string. */
const bytesPerUnitMax = 3

/**
 * Lines as bytes, in chunks of whole lines, in their order. Lines are written directly into reused memory: joined as
 * texts first, they would be copied three times, and leave garbage.
 */
class LineChunks {
  /** Chunks that accept no more lines, the oldest first. */
  readonly #closed: Buffer[] = []
  /** The chunk that accepts the next line. */
  #open: Buffer
  #used = 0
  #spare: Buffer | undefined

  /** @param chunkBytesMax a line longer than this becomes a chunk of its own */
  constructor(chunkBytesMax: number) {
    this.#open = Buffer.allocUnsafeSlow(chunkBytesMax)
  }

  /** @returns the bytes of the line */
  add(line: string): number {
    // Nearly always there is room, whatever the line contains: counting its bytes would be reading it twice.
    if (line.length * bytesPerUnitMax > this.#open.length - this.#used) {
      const bytes = Buffer.byteLength(line)
      if (bytes > this.#open.length - this.#used) this.#close()
      if (bytes > this.#open.length) return this.#addLong(line, bytes)
    }
    const bytes = this.#open.write(line, this.#used)
    this.#used += bytes
    return bytes
  }

  /** @returns the oldest chunk, which is removed; undefined = there are no lines */
  take(): Buffer | undefined {
    if (this.#closed.length === 0) this.#close()
    return this.#closed.shift()
  }

  /** Reuses the memory of a chunk. @param chunk one that was taken, or the end of it; not used by anyone else */
  release({ buffer }: Buffer): void {
    if (buffer.byteLength === this.#open.length) this.#spare = Buffer.from(buffer)
  }

  clear(): void {
    this.#closed.length = 0
    this.#used = 0
  }

  #addLong(line: string, bytes: number): number {
    const chunk = Buffer.allocUnsafeSlow(bytes)
    this.#closed.push(chunk)
    return chunk.write(line)
  }

  #close(): void {
    if (this.#used === 0) return
    this.#closed.push(this.#open.subarray(0, this.#used))
    this.#open = this.#spare ?? Buffer.allocUnsafeSlow(this.#open.length)
    this.#used = 0
    this.#spare = undefined
  }
}
