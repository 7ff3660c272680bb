import type { Server } from 'node:net'

/** In a turn of the event loop without a connection the queue was empty; with several workers another may take one. */
const idleTurnsMax = 2

/**
 * Takes the connections that the system has accepted and that wait in the queue of the server: closing it would reset
 * them, though their clients take them for made. To be followed by `server.close()` in the same turn.
 * @param withinMs under a flood the queue is never empty: then it ends all the same
 */
export async function acceptBacklog(server: Server, withinMs: number): Promise<void> {
  const endsAt = performance.now() + withinMs
  let idleTurns = 0
  const onConnection = () => {
    idleTurns = -1
  }
  server.on('connection', onConnection)
  while (idleTurns < idleTurnsMax && performance.now() < endsAt) {
    await new Promise((resolve) => setImmediate(resolve))
    idleTurns++
  }
  server.off('connection', onConnection)
}
