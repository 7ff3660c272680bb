import type { Socket } from 'node:net'
import { unmappedAddress } from '#platform/addresses.ts'
import type { OpenConnection } from '../exchange/client-exchange.ts'
import { ClientSession, type SessionOptions } from './client-session.ts'

export type SessionLimits = Pick<
  SessionOptions,
  'keepAliveTimeoutMs' | 'requestTimeoutMs' | 'headBytesMax' | 'bodyRateMin' | 'streamsMax'
>

/** Takes over the connections that clients open with HTTP/2. */
export interface SessionOpener {
  /** @param first what has been read from the socket already */
  open(socket: Socket, first: Buffer | undefined): OpenConnection
  /** Applies changed limits to what is received from now on; the number of streams to new connections. */
  adapt(limits: SessionLimits): void
}

export function createSessionOpener(options: SessionOptions): SessionOpener {
  // A copy that sessions read at each use, so that changes reach all of them.
  const current = { ...options }
  return {
    open: (socket, first) => {
      const peerAddress = unmappedAddress(socket.remoteAddress ?? '')
      const protocol = 'encrypted' in socket ? 'https' : 'http'
      return new ClientSession(socket, { peerAddress, protocol }, current, first)
    },
    adapt: (limits) => void Object.assign(current, limits),
  }
}
