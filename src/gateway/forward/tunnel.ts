import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** An open WebSocket: two sockets whose bytes are relayed unchanged. */
export interface Tunnel {
  /** Closes it towards both sides, between two frames. Does nothing if it is closing already. */
  close(code: number, reason: string): void
}

/** A socket, or a stream of HTTP/2. */
interface TunnelEnd extends Duplex {
  setTimeout(ms: number, onTimeout?: () => void): unknown
  setNoDelay?(isOn: boolean): unknown
  destroySoon?(): void
}

/** How long the sides may take to close after the Close frame. */
const closeTimeoutMs = 2_000
/** How long a side may stall before reading what the closed side sent. */
const drainTimeoutMs = 30_000

/**
 * Joins the sockets of an upgraded connection. Only frame headers are parsed, so that pings, fragments and extensions
 * are relayed unchanged, in constant memory.
 * @param onClosed called once when both sides are closed
 */
export function openTunnel(client: TunnelEnd, upstream: Socket, onClosed: () => void): Tunnel {
  return new RelayingTunnel(client, upstream, onClosed)
}

class RelayingTunnel implements Tunnel {
  readonly #toClient: Direction
  readonly #toUpstream: Direction
  readonly #onClosed: () => void
  #openSides = 2
  #isClosing = false

  constructor(client: TunnelEnd, upstream: TunnelEnd, onClosed: () => void) {
    this.#onClosed = onClosed
    this.#toClient = new Direction(this, upstream, client)
    this.#toUpstream = new Direction(this, client, upstream)
  }

  close(code: number, reason: string): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#toClient.endWith(closeFrame(code, reason, false))
    this.#toUpstream.endWith(closeFrame(code, reason, true))
    setTimeout(() => this.destroy(), closeTimeoutMs).unref()
  }

  destroy(): void {
    this.#toClient.to.destroy()
    this.#toUpstream.to.destroy()
  }

  /** @param other the other side */
  onSideClosed(other: TunnelEnd): void {
    this.#openSides--
    if (this.#openSides === 0) this.#onClosed()
    // What this side sent before it closed still reaches a slow reader.
    endThenDestroy(other)
    other.setTimeout(drainTimeoutMs, () => this.destroy())
  }
}

class Direction {
  readonly tunnel: RelayingTunnel
  readonly from: TunnelEnd
  readonly to: TunnelEnd
  readonly #tracker = new FrameTracker()
  /** The last frame to send, once the current one has ended. */
  #closeFrame: Buffer | undefined
  #isEnded = false

  constructor(tunnel: RelayingTunnel, from: TunnelEnd, to: TunnelEnd) {
    this.tunnel = tunnel
    this.from = from
    this.to = to
    from.setTimeout(0)
    from.setNoDelay?.(true)
    Object.assign(from, { [directionKey]: this })
    from.on('data', onData).on('end', onEnd).on('drain', onDrain).on('error', onError).on('close', onClose)
  }

  relay(chunk: Buffer): void {
    if (this.#isEnded) return
    const consumed = this.#tracker.consume(chunk, this.#closeFrame !== undefined)
    const sent = consumed === chunk.length ? chunk : chunk.subarray(0, consumed)
    // An empty write would make TLS read.
    const isFlowing = sent.length === 0 || this.to.write(sent)
    if (this.#closeFrame && this.#tracker.isAtBoundary) this.#end()
    else if (!isFlowing) this.from.pause()
  }

  /** Sends the Close frame, after which nothing follows. A frame that has begun is sent to its end first. */
  endWith(frame: Buffer): void {
    this.#closeFrame = frame
    this.#end()
  }

  #end(): void {
    if (this.#isEnded || !this.#closeFrame || !this.#tracker.isAtBoundary) return
    this.#isEnded = true
    this.to.end(this.#closeFrame)
  }
}

/** All tunnels share the same listeners, to save memory of idle WebSockets. */
const directionKey = Symbol('direction')

function directionFrom(side: TunnelEnd): Direction {
  // The cast is sound: the listeners below are only added together with it.
  return (side as unknown as { readonly [directionKey]: Direction })[directionKey]
}

function onData(this: TunnelEnd, chunk: Buffer): void {
  directionFrom(this).relay(chunk)
}

function onEnd(this: TunnelEnd): void {
  directionFrom(this).to.end()
}

function onDrain(this: TunnelEnd): void {
  directionFrom(this).to.resume()
}

function onError(this: TunnelEnd): void {
  directionFrom(this).tunnel.destroy()
}

function onClose(this: TunnelEnd): void {
  const { tunnel, to } = directionFrom(this)
  tunnel.onSideClosed(to)
}

function endThenDestroy(end: TunnelEnd): void {
  if (end.destroySoon) end.destroySoon()
  else if (end.writableFinished) end.destroy()
  else end.end(() => end.destroy())
}

/**
 * Tracks the frames of a WebSocket stream (RFC 6455 5.2) without changing them: our own frame may be inserted only at
 * a boundary.
 */
export class FrameTracker {
  /** Bytes of the payload still to come. */
  #payload = 0
  /** The bytes seen so far of the header of the current frame. */
  #header = none
  /** How many bytes that header has. */
  #headerLength = 2

  get isAtBoundary(): boolean {
    return this.#payload === 0 && this.#header.length === 0
  }

  /**
   * Advances over a chunk that is relayed.
   * @param stopAtBoundary whether to consume only what completes the current frame
   * @returns how many bytes were consumed
   */
  consume(chunk: Uint8Array, stopAtBoundary: boolean): number {
    let offset = 0
    while (offset < chunk.length) {
      if (stopAtBoundary && this.isAtBoundary) return offset
      if (this.#payload > 0) {
        const taken = Math.min(this.#payload, chunk.length - offset)
        this.#payload -= taken
        offset += taken
      } else {
        this.#readHeader(chunk[offset] ?? 0)
        offset++
      }
    }
    return offset
  }

  #readHeader(byte: number): void {
    this.#header = [...this.#header, byte]
    if (this.#header.length === 2) this.#headerLength = headerLength(byte)
    if (this.#header.length < this.#headerLength) return
    this.#payload = payloadLength(this.#header)
    this.#header = none
    this.#headerLength = 2
  }
}

/** Shared by all idle WebSockets. */
const none: readonly number[] = []

/** Computed from the second byte: two bytes, an extended length of two or eight bytes, and a mask of four. */
function headerLength(second: number): number {
  const length = second & 0x7f
  const extended = length === 126 ? 2 : length === 127 ? 8 : 0
  return 2 + extended + ((second & 0x80) === 0 ? 0 : 4)
}

function payloadLength(header: readonly number[]): number {
  const length = (header[1] ?? 0) & 0x7f
  if (length < 126) return length
  return header.slice(2, length === 126 ? 4 : 10).reduce((sum, byte) => sum * 256 + byte, 0)
}

/** A Close frame (RFC 6455 5.5.1), masked where it goes to a server. */
export function closeFrame(code: number, reason: string, isMasked: boolean): Buffer {
  const payload = Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)])
  if (!isMasked) return Buffer.concat([Buffer.from([0x88, payload.length]), payload])
  // A mask of zeros leaves the payload unchanged.
  return Buffer.concat([Buffer.from([0x88, 0x80 | payload.length, 0, 0, 0, 0]), payload])
}
