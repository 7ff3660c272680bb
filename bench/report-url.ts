import type { Server } from 'node:net'
import { listenOnAll } from '#gateway/server/listen.ts'

/**
 * Reports the listening URL to the parent process; exits with it.
 * @param further servers on the same port
 */
export async function reportUrl(server: Server, port = 0, further: readonly Server[] = []): Promise<void> {
  process.on('disconnect', () => process.exit())
  const chosen = await listenOnAll([server, ...further], { host: '127.0.0.1', port }, 'the port of the bench')
  process.send?.({ url: `http://127.0.0.1:${chosen}` })
}

/** The message of reportUrl. */
export interface ReadyMessage {
  readonly url: string
}
