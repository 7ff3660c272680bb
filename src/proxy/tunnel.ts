import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { closeFrame, FrameTracker } from './frame-tracker.ts'

/** An open WebSocket: two sockets whose bytes are relayed unchanged. */
export interface Tunnel {
  /** Closes it towards both sides, between two frames. Does nothing if it is closing already. */
  close(code: number, reason: string): void
}

/** A socket, or a stream of HTTP/2. */
export interface TunnelEnd extends Duplex {
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
  let pendingClose: { readonly code: number; readonly reason: string } | undefined
  let isClosing = false
  let openSides = 2
  const toClient = createDirection(upstream, client, { isMasked: false })
  const toUpstream = createDirection(client, upstream, { isMasked: true })

  function createDirection(from: Duplex, to: Duplex, { isMasked }: { readonly isMasked: boolean }) {
    const tracker = new FrameTracker()
    let isEnded = false

    function relay(chunk: Buffer): void {
      if (isEnded) return
      const consumed = tracker.consume(chunk, pendingClose !== undefined)
      const isFlowing = to.write(consumed === chunk.length ? chunk : chunk.subarray(0, consumed))
      if (pendingClose && tracker.isAtBoundary) end()
      else if (!isFlowing) from.pause()
    }

    /** Sends the Close frame in this direction; within a frame, only at its end. */
    function end(): void {
      if (isEnded || !pendingClose || !tracker.isAtBoundary) return
      isEnded = true
      to.end(closeFrame(pendingClose.code, pendingClose.reason, isMasked))
    }

    from.on('data', relay)
    to.on('drain', () => from.resume())
    from.on('end', () => to.end())
    return { end }
  }

  function destroy(): void {
    client.destroy()
    upstream.destroy()
  }

  for (const [socket, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    socket.setTimeout(0)
    socket.setNoDelay?.(true)
    socket.on('error', destroy)
    socket.on('close', () => {
      openSides--
      if (openSides === 0) onClosed()
      // What this side sent before it closed still reaches a slow reader.
      endThenDestroy(other)
      other.setTimeout(drainTimeoutMs, destroy)
    })
  }

  return {
    close: (code, reason) => {
      if (isClosing) return
      isClosing = true
      pendingClose = { code, reason }
      toClient.end()
      toUpstream.end()
      setTimeout(destroy, closeTimeoutMs).unref()
    },
  }
}

function endThenDestroy(end: TunnelEnd): void {
  if (end.destroySoon) end.destroySoon()
  else if (end.writableFinished) end.destroy()
  else end.end(() => end.destroy())
}
