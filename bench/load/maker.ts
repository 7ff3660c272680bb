import { runBody } from './body.ts'
import { runClosed } from './closed.ts'
import { runHear, runListen } from './events.ts'
import { closeHeld } from './held.ts'
import { runIdle } from './idle.ts'
import type { Answers, Order } from './order.ts'
import { runPaced } from './paced.ts'

/** A process of its own that makes the load: it takes an order as a message and sends back what came of it. */

function carryOut(order: Order): Promise<Answers[Order['kind']]> {
  switch (order.kind) {
    case 'closed':
      return runClosed(order)
    case 'paced':
      return runPaced(order)
    case 'body':
      return runBody(order)
    case 'listen':
      return runListen(order)
    case 'hear':
      return runHear(order)
    case 'idle':
      return runIdle(order)
    case 'close':
      return closeHeld()
    default:
      return order satisfies never
  }
}

process.on('message', async (order: Order) => process.send?.(await carryOut(order)))
process.on('disconnect', () => process.exit())
process.send?.({})
