import { type ClientHttp2Session, connect } from 'node:http2'
import type { Socket } from 'node:net'
import type { DialOptions } from '../dial.ts'
import { dial } from '../dial.ts'
import { UpstreamFailure } from '../failure.ts'
import type { ConnectionOpener, OpenEvents } from '../upstream-connection.ts'
import { UpstreamStream } from './stream.ts'

/** How many requests are sent on one connection, if the target allows as many. */
const streamsMax = 100
const streamWindowBytes = 262_144
const connectionWindowBytes = 4_194_304
/** A connection without requests is closed after this long. */
const idleMs = 60_000

interface OpenSession {
  readonly session: ClientHttp2Session
  streams: number
  hasServed: boolean
}

/** A connection that is being opened, and who waits for it. */
interface Dialing {
  readonly waiting: Set<OpenEvents>
  cancel(): boolean
}

/** Puts requests on few connections of HTTP/2: a new one is opened only when the others are full. */
export function createHttp2Opener(options: DialOptions): ConnectionOpener {
  const scheme = options.url.protocol === 'https:' ? 'https' : 'http'
  const sessions = new Set<OpenSession>()
  const dialings = new Set<Dialing>()
  let isClosed = false

  function open(events: OpenEvents): () => boolean {
    const free = findFree()
    if (free) {
      // As with a new connection: never before this returns.
      events.onConnection(takeStream(free))
      return () => false
    }
    const dialing = [...dialings].find(({ waiting }) => waiting.size < streamsMax) ?? startDial()
    dialing.waiting.add(events)
    return () => {
      if (!dialing.waiting.delete(events)) return false
      if (dialing.waiting.size === 0 && dialing.cancel()) dialings.delete(dialing)
      return true
    }
  }

  function findFree(): OpenSession | undefined {
    for (const open of sessions) if (open.streams < capacityOf(open.session)) return open
    return undefined
  }

  function startDial(): Dialing {
    const waiting = new Set<OpenEvents>()
    const settle = (then: (events: OpenEvents) => void) => {
      dialings.delete(dialing)
      const all = [...waiting]
      waiting.clear()
      for (const events of all) then(events)
    }
    const cancel = dial(options, {
      onSocket: (socket) => onSocket(socket, settle),
      onFailure: (failure) => settle(({ onFailure }) => onFailure(failure)),
    })
    const dialing = { waiting, cancel }
    dialings.add(dialing)
    return dialing
  }

  function onSocket(socket: Socket, settle: (then: (events: OpenEvents) => void) => void): void {
    if ('alpnProtocol' in socket && socket.alpnProtocol !== 'h2') {
      socket.destroy()
      const failure = new UpstreamFailure('connect-failed', 'the target does not speak HTTP/2 (ALPN h2)')
      settle(({ onFailure }) => onFailure(failure))
      return
    }
    const opened = startSession(socket)
    // No more wait than fit.
    settle(({ onConnection }) => onConnection(takeStream(opened)))
  }

  function startSession(socket: Socket): OpenSession {
    const session = connect(options.url.origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
    })
    session.setLocalWindowSize(connectionWindowBytes)
    const opened: OpenSession = { session, streams: 0, hasServed: false }
    sessions.add(opened)
    // Its streams report what went wrong.
    session.on('error', () => {})
    session.on('goaway', () => sessions.delete(opened))
    session.on('close', () => sessions.delete(opened))
    session.setTimeout(idleMs, () => {
      if (opened.streams > 0) return
      sessions.delete(opened)
      session.close()
    })
    return opened
  }

  function takeStream(opened: OpenSession): UpstreamStream {
    const stream = new UpstreamStream(opened.session, scheme, opened.hasServed)
    opened.streams++
    opened.hasServed = true
    stream.onGone = () => {
      opened.streams--
      if (isClosed && opened.streams === 0) opened.session.close()
    }
    return stream
  }

  return {
    open,
    close: () => {
      isClosed = true
      for (const { session, streams } of sessions) if (streams === 0) session.close()
    },
  }
}

/** Before the target has told its limit, as many as it must expect (RFC 9113 6.5.2). */
function capacityOf({ remoteSettings, destroyed, closed }: ClientHttp2Session): number {
  if (destroyed || closed) return 0
  return Math.min(streamsMax, remoteSettings?.maxConcurrentStreams ?? streamsMax)
}
