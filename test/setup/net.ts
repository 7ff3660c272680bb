import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

/**
 * Below the ports that systems give to those who ask for any (from 32768 on Linux): no server or client gets it
 * meanwhile. Files that run at the same time, by tap's number for them, have ports of their own: two might choose the
 * same one before either of them listens.
 */
const portsFrom = 20_000
const portsEach = 1_500
const jobsMax = 8
const ownFrom = portsFrom + (Number(process.env.TAP_JOB_ID ?? 0) % jobsMax) * portsEach
let last = randomInt(portsEach)

/** A port that nobody listens on now; each time another. */
export async function freePort(): Promise<number> {
  for (;;) {
    last = (last + 1) % portsEach
    const port = ownFrom + last
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
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
