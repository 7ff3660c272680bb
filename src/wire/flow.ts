import type { Socket } from 'node:net'
import { letGo } from './let-go.ts'

/** What a socket reads at once; Node only looks whether it is 0. */
const readSize = 65_536

/** Hands on what a socket receives, and lets the socket read on once `resume` is called. */
export class Flow {
  readonly #socket: Socket
  readonly #onData: (chunk: Buffer) => boolean
  #isPaused = false
  #isStopped = false
  #hasGivenWay = false

  /** @param onData returns whether the chunk is not in use any more */
  constructor(socket: Socket, onData: (chunk: Buffer) => boolean) {
    this.#socket = socket
    this.#onData = onData
  }

  /** @returns whether the socket is to read on */
  handOn(chunk: Buffer): boolean {
    if (this.#onData(chunk)) letGo(chunk)
    this.#isStopped = this.#isPaused || this.#hasGivenWay
    return !this.#isStopped
  }

  /** What has been read already still comes: at most one chunk. */
  pause(): void {
    this.#isPaused = true
  }

  /** Reads on in the next turn of the event loop only, so that other connections have theirs. */
  giveWay(): void {
    if (this.#hasGivenWay) return
    this.#hasGivenWay = true
    setImmediate(() => {
      this.#hasGivenWay = false
      if (!this.#isPaused) this.resume()
    })
  }

  resume(): void {
    this.#isPaused = false
    if (!this.#isStopped || this.#hasGivenWay) return
    this.#isStopped = false
    if (!this.#socket.destroyed) this.#socket._read(readSize)
  }
}
