import type { ClientExchange, RequestEvents } from '#http/client-exchange.ts'
import type { BodyTooSlow, MalformedMessage, RequestHead } from '#http/request-head.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { HeldBody } from './pending-body.ts'

const mebibyte = 1_048_576
/** Larger bodies are not held. It is the default of `maxBody`, with which there are no larger ones. */
export const heldBytesMax = 10 * mebibyte
/** For all bodies of a process that are held at a time. */
const heldBytesOfAllMax = 128 * mebibyte
/** For those of one caller, so that none takes it all. */
export const heldBytesOfCallerMax = 32 * mebibyte

/** Small, as most requests are; memory is doubled as more arrives. */
const firstBytes = 4_096

interface HeldRequest {
  /** An account, or the network of an anonymous client. */
  readonly caller: string
  readonly exchange: ClientExchange
  readonly head: RequestHead
  /** The `maxBody` of its route. */
  readonly bodyBytesMax: number
}

/** One of the two is called, once, unless the client disconnects. */
interface HeldBodyEvents {
  onHeld(body: HeldBody): void
  onFailed(error: GatehouseError | MalformedMessage | BodyTooSlow): void
}

/** Holds bodies in memory until they are complete, within bounds for each, for each caller, and for all. */
export interface HeldBodies {
  /** Reads the body. A client that waits for a 100 gets it. */
  hold(request: HeldRequest, events: HeldBodyEvents): void
}

export function createHeldBodies(): HeldBodies {
  const bytesOf = new Map<string, number>()
  let bytesOfAll = 0

  function take(caller: string, bytes: number): boolean {
    const taken = (bytesOf.get(caller) ?? 0) + bytes
    if (taken > heldBytesOfCallerMax || bytesOfAll + bytes > heldBytesOfAllMax) return false
    bytesOfAll += bytes
    bytesOf.set(caller, taken)
    return true
  }

  function giveBack(caller: string, bytes: number): void {
    bytesOfAll -= bytes
    const left = (bytesOf.get(caller) ?? 0) - bytes
    if (left > 0) bytesOf.set(caller, left)
    else bytesOf.delete(caller)
  }

  return {
    hold: (request, events) => {
      const { exchange, head, caller } = request
      exchange.attach(
        new ArrivingBody(request, events, {
          take: (bytes) => take(caller, bytes),
          giveBack: (bytes) => giveBack(caller, bytes),
        }),
      )
      if (head.expectsContinue) exchange.writeInformation(100, 'Continue', '')
      exchange.resumeBody()
    },
  }
}

interface Allotment {
  /** @returns false if there is not so much left */
  take(bytes: number): boolean
  giveBack(bytes: number): void
}

class ArrivingBody implements RequestEvents {
  readonly #request: HeldRequest
  readonly #events: HeldBodyEvents
  readonly #allotment: Allotment
  #memory = Buffer.alloc(0)
  #bytes = 0

  constructor(request: HeldRequest, events: HeldBodyEvents, allotment: Allotment) {
    this.#request = request
    this.#events = events
    this.#allotment = allotment
  }

  onBodyData(chunk: Buffer): void {
    const bytes = this.#bytes + chunk.length
    if (bytes > this.#request.bodyBytesMax) this.#fail(new GatehouseError('body-too-large'))
    else if (!this.#hasRoomFor(bytes)) this.#fail(tooManyHeld())
    else {
      chunk.copy(this.#memory, this.#bytes)
      this.#bytes = bytes
      if (bytes > heldBytesMax) this.#settle(undefined)
    }
  }

  isChunkReleased(): boolean {
    return true
  }

  onBodyEnd(trailers: readonly string[]): void {
    this.#settle(trailers)
  }

  onBodyError(error: MalformedMessage | BodyTooSlow): void {
    this.#fail(error)
  }

  onClientDrain(): void {}

  onAbort(): void {
    this.#release()
  }

  /** Enlarges the memory: twice as large each time, so that each byte is copied about once. */
  #hasRoomFor(bytes: number): boolean {
    const before = this.#memory
    if (bytes <= before.length) return true
    const { body } = this.#request.head
    const expected = body.kind === 'counted' ? body.length : heldBytesMax
    const enlarged = Math.max(bytes, Math.min(expected, Math.max(firstBytes, 2 * before.length)))
    if (!this.#allotment.take(enlarged - before.length)) return false
    this.#memory = Buffer.allocUnsafeSlow(enlarged)
    before.copy(this.#memory, 0, 0, this.#bytes)
    return true
  }

  /** @param trailers undefined = there is more of the body */
  #settle(trailers: readonly string[] | undefined): void {
    const { exchange } = this.#request
    exchange.attach(undefined)
    if (trailers === undefined) exchange.pauseBody()
    const bytes = this.#memory.subarray(0, this.#bytes)
    this.#events.onHeld(new HeldBody(bytes, trailers, () => this.#release()))
  }

  #fail(error: GatehouseError | MalformedMessage | BodyTooSlow): void {
    this.#request.exchange.attach(undefined)
    this.#release()
    this.#events.onFailed(error)
  }

  #release(): void {
    this.#allotment.giveBack(this.#memory.length)
    this.#memory = Buffer.alloc(0)
    this.#bytes = 0
  }
}

function tooManyHeld(): GatehouseError {
  const cause = new Error('too many request bodies are held to ask for usage: of this caller, or of all')
  return new GatehouseError('upstream-unavailable', { cause })
}
