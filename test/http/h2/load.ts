import { type ClientHttp2Session, connect } from 'node:http2'
import type { Test } from 'tap'
import { ask } from './ask.ts'

/** Clients of HTTP/2 that ask again as soon as they are answered. */
export interface Http2Load {
  /** How many answers there were of each status so far; 0 = none came. */
  readonly counts: ReadonlyMap<number, number>
  /** How many connections were opened so far. */
  connections(): number
  /** @returns once all have their last answer */
  stop(): Promise<void>
}

const streamsEach = 10

/**
 * Several connections, each with ten requests at a time; after a GOAWAY or a lost connection a new one is opened.
 * @param urlOf read for each connection
 */
export function startHttp2Load(t: Test, urlOf: () => string, connections: number): Http2Load {
  const counts = new Map<number, number>()
  let isOver = false
  let opened = 0
  const open = () => {
    opened++
    const session = connect(urlOf())
    session.on('error', () => {})
    t.teardown(() => session.destroy())
    return session
  }
  const clients = Array.from({ length: connections }, async () => {
    let session: ClientHttp2Session = open()
    const loops = Array.from({ length: streamsEach }, async () => {
      while (!isOver) {
        if (session.closed || session.destroyed) session = open()
        const { status } = await ask(session, '/public/x')
        counts.set(status, (counts.get(status) ?? 0) + 1)
      }
    })
    await Promise.all(loops)
  })
  const stop = async () => {
    isOver = true
    await Promise.all(clients)
  }
  return { counts, connections: () => opened, stop }
}
