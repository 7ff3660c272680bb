import { createServer, type Server, type ServerOpts } from 'node:net'

/**
 * How many sockets listen on a port. libuv accepts one connection from each in a turn of the event loop, and under load
 * a turn takes milliseconds: with one socket, the last of 600 clients that connected at once waited two seconds.
 */
export const acceptQueuesMax = 16

/**
 * Servers that pass the connections of further sockets on the same port to a first server.
 * @param options of sockets, as for the first
 */
export function createFurtherQueues(first: Server, options: ServerOpts, count: number): readonly Server[] {
  return Array.from({ length: count }, () =>
    createServer(options, (socket) => void first.emit('connection', socket)),
  )
}
