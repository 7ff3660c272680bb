import { runBody } from './body.ts'
import { runClosed } from './closed.ts'
import { runClosedH2 } from './closed-h2.ts'
import type { LoadCommand, LoadResults } from './commands.ts'
import { runDistinct } from './distinct.ts'
import { countEvents, openEventStreams } from './events.ts'
import { closeConnections } from './held-connections.ts'
import { openWebSockets } from './open-web-sockets.ts'
import { runPaced } from './paced.ts'

/** The load generator process: it receives a command as a message and sends back the result. */

function carryOut(order: LoadCommand): Promise<LoadResults[LoadCommand['kind']]> {
  switch (order.kind) {
    case 'closed':
      return runClosed(order)
    case 'closedH2':
      return runClosedH2(order)
    case 'paced':
      return runPaced(order)
    case 'body':
      return runBody(order)
    case 'listen':
      return openEventStreams(order)
    case 'hear':
      return countEvents(order)
    case 'idle':
      return openWebSockets(order)
    case 'distinct':
      return runDistinct(order)
    case 'close':
      return closeConnections()
    default:
      return order satisfies never
  }
}

process.on('message', async (order: LoadCommand) => process.send?.(await carryOut(order)))
process.on('disconnect', () => process.exit())
process.send?.({})
