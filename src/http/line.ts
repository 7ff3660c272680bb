import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** From so many on, no more is read of a connection until it is their turn. */
const waitingMax = 16

/**
 * The requests of one connection, carried out one after the other: only safe ones could run side by side
 * (RFC 9112 9.3.2), and what comes behind one that ends the connection is never carried out (9.6).
 */
export class Line {
  /** The answer that is under way. */
  current: ServerResponse | undefined
  readonly #socket: Socket
  readonly #waiting: (() => void)[] = []

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Takes a turn that is to come once all before it have ended. */
  wait(turn: () => void): void {
    this.#waiting.push(turn)
    if (this.#waiting.length === waitingMax) this.#socket.pause()
  }

  /** The answer that was under way has ended: whoever waits longest is next. */
  next(): void {
    this.current = undefined
    const turn = this.#waiting.shift()
    if (turn === undefined) return
    if (!this.#socket.writable) this.#waiting.length = 0
    else {
      if (this.#waiting.length < waitingMax) this.#socket.resume()
      turn()
    }
  }
}

const key = Symbol('line')

/** The line of a connection. */
export function lineOf(socket: Socket): Line {
  // The cast is sound: nobody else knows this key.
  const holder = socket as { [key]?: Line }
  holder[key] ??= new Line(socket)
  return holder[key]
}
