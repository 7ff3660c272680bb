import type { Socket } from 'node:net'
import { monotonicClock } from '#platform/time.ts'
import { type DialOptions, dial } from '../dial.ts'
import { UpstreamFailure } from '../failure.ts'
import type { ConnectionOpener, ConnectionUse, OpenEvents } from '../upstream-connection.ts'
import { type SessionEvents, streamsMax, UpstreamSession } from './upstream-session.ts'
import { UpstreamStream } from './upstream-stream.ts'

/** A connection that is being opened. */
interface Opening {
  cancel: () => void
}

/**
 * Puts requests on few HTTP/2 connections: a new one is opened only when the others have as many requests as the target
 * allows. There are never more connections than simultaneous requests.
 */
export function openHttp2Connections(options: DialOptions): ConnectionOpener {
  const { address, connectTimeoutMs } = options
  const scheme = address.isTls ? 'https' : 'http'
  const sessions = new Set<UpstreamSession>()
  /** The number of connections so far, which numbers the next. */
  let sessionCount = 0
  /** Waiting requests in order of arrival, with the number of the first connection that each may use. */
  const waiting = new Map<OpenEvents, number>()
  const openings = new Set<Opening>()
  /** How many requests the next connection is expected to take: as many as the last one. */
  let expectedStreams = streamsMax
  let isClosed = false

  function open(events: OpenEvents, use: ConnectionUse, isNew: boolean): () => boolean {
    if (use === 'bound') return openOwn(events)
    waiting.set(events, isNew ? sessionCount : 0)
    // Those before it may wait for a new connection, while another has room for this one.
    serveWaiting()
    return () => {
      if (!waiting.delete(events)) return false
      if (waiting.size > 0) return true
      for (const { cancel } of openings) cancel()
      openings.clear()
      return true
    }
  }

  /** @param first the number of the first connection that may be used */
  function findFree(first: number): UpstreamSession | undefined {
    for (const session of sessions) if (session.number >= first && session.hasRoom) return session
    return undefined
  }

  function serveWaiting(): void {
    for (const [events, first] of waiting) {
      const free = findFree(first)
      if (!free && first === 0) break
      if (!free) continue
      waiting.delete(events)
      events.onConnection(takeStream(free))
    }
    openForWaiting()
  }

  function openForWaiting(): void {
    while (waiting.size > openings.size * expectedStreams) startOpening()
  }

  /** Opens a connection for a single request, which ends with it. */
  function openOwn(events: OpenEvents): () => boolean {
    let isSettled = false
    const settle = () => {
      if (isSettled) return false
      isSettled = true
      return true
    }
    const cancel = dialSession({
      onReady: (session) => {
        if (!settle()) return
        events.onConnection(takeStream(session))
        session.close()
      },
      onFailure: (failure) => {
        if (settle()) events.onFailure(failure)
      },
      onCapacity: () => {},
      onEnding: () => {},
    })
    return () => {
      if (!settle()) return false
      cancel()
      return true
    }
  }

  function startOpening(): void {
    const opening: Opening = { cancel: () => {} }
    openings.add(opening)
    opening.cancel = dialSession({
      onReady: (session) => {
        openings.delete(opening)
        sessions.add(session)
        expectedStreams = session.streamsMax
        serveWaiting()
        closeIfUnused(session)
      },
      onFailure: (failure) => {
        openings.delete(opening)
        failWaiting(failure)
      },
      onCapacity: (session) => {
        if (waiting.size > 0) serveWaiting()
        closeIfUnused(session)
      },
      onEnding: (session) => sessions.delete(session),
    })
  }

  /** @returns a function that cancels, unless the session is ready */
  function dialSession(events: SessionEvents): () => void {
    const timesOutAt = monotonicClock() + connectTimeoutMs
    let cancel = () => {}
    const cancelDial = dial(options, {
      onSocket: (socket) => {
        if (!speaksHttp2(socket)) {
          socket.destroy()
          events.onFailure(
            new UpstreamFailure('connect-failed', 'the target does not speak HTTP/2 (ALPN h2)'),
          )
          return
        }
        const timeoutMs = timesOutAt - monotonicClock()
        const sessionOptions = { number: sessionCount++, timeoutMs, pingTimeoutMs: connectTimeoutMs }
        const session = new UpstreamSession(socket, sessionOptions, events)
        cancel = () => session.destroy()
      },
      onFailure: events.onFailure,
    })
    cancel = () => void cancelDial()
    return () => cancel()
  }

  /** Fails the requests that no other connection is being opened for, those that have waited longest first. */
  function failWaiting(failure: UpstreamFailure): void {
    let count = waiting.size - openings.size * expectedStreams
    for (const events of waiting.keys()) {
      if (count-- <= 0) return
      waiting.delete(events)
      events.onFailure(failure)
    }
  }

  function closeIfUnused(session: UpstreamSession): void {
    if (isClosed && session.isIdle) session.close()
  }

  function takeStream(session: UpstreamSession): UpstreamStream {
    const isReused = session.hasServed
    session.addStream()
    return new UpstreamStream(session, scheme, isReused)
  }

  return {
    open,
    close: () => {
      isClosed = true
      for (const session of sessions) closeIfUnused(session)
    },
  }
}

/** As far as ALPN shows: without TLS, only the target's first frame does. */
function speaksHttp2(socket: Socket): boolean {
  return !('alpnProtocol' in socket) || socket.alpnProtocol === 'h2'
}
