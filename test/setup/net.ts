import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = portOf(server)
  server.close()
  await once(server, 'close')
  return port
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

/** Asks again and again until the answer is not undefined: tests wait for conditions, never for time. */
export async function until<Value>(
  what: string,
  ask: () => Promise<Value | undefined> | Value | undefined,
  withinMs = 30_000,
): Promise<Value> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const value = await ask()
    if (value !== undefined && value !== false) return value
    if (performance.now() > deadline) throw new Error(`still not: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
