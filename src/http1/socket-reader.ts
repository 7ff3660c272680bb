import type { Socket } from 'node:net'
import { releaseBuffer } from './release-buffer.ts'

/** What a socket reads at once; Node only checks whether it is 0. */
const readSize = 65_536

/** Delivers what a socket receives, and lets the socket read on once `resume` is called. */
export class SocketReader {
  readonly #socket: Socket
  readonly #onData: (chunk: Buffer) => boolean
  #isPaused = false
  #isStopped = false
  #hasYielded = false

  /** @param onData returns whether the chunk is released */
  constructor(socket: Socket, onData: (chunk: Buffer) => boolean) {
    this.#socket = socket
    this.#onData = onData
  }

  /** @returns whether the socket is to read on */
  deliver(chunk: Buffer): boolean {
    if (this.#onData(chunk)) releaseBuffer(chunk)
    this.#isStopped = this.#isPaused || this.#hasYielded
    return !this.#isStopped
  }

  /** What has already been read is still delivered: at most one chunk. */
  pause(): void {
    this.#isPaused = true
  }

  /** Pauses until the next turn of the event loop, so that other connections are served. */
  yieldTurn(): void {
    if (this.#hasYielded) return
    this.#hasYielded = true
    setImmediate(() => {
      this.#hasYielded = false
      if (!this.#isPaused) this.resume()
    })
  }

  resume(): void {
    this.#isPaused = false
    if (!this.#isStopped || this.#hasYielded) return
    this.#isStopped = false
    if (!this.#socket.destroyed) this.#socket._read(readSize)
  }
}
