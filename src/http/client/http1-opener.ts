import type { Socket } from 'node:net'
import { PooledSocketReader } from '../h1/socket-reader.ts'
import { Connection } from './connection.ts'
import { type DialOptions, dial } from './dial.ts'
import type { UpstreamFailure } from './failure.ts'
import type { ConnectionOpener } from './upstream-connection.ts'

/** Opens a connection of HTTP/1.1 each time. */
export function createHttp1Opener(options: DialOptions): ConnectionOpener {
  return {
    open: (events, use) => {
      // A socket that reads into shared memory cannot be handed over.
      const isPooled = options.url.protocol === 'http:' && use !== 'upgrade'
      const reader = isPooled ? new PooledSocketReader() : undefined
      const dialEvents = {
        onSocket: (socket: Socket) => events.onConnection(new Connection(socket, reader)),
        onFailure: (failure: UpstreamFailure) => events.onFailure(failure),
      }
      return dial(options, dialEvents, reader?.onread)
    },
    close: () => {},
  }
}
