import { once } from 'node:events'
import { createServer } from 'node:net'
import { listen } from '../http/listen.ts'
import { hasErrorCode } from '../platform/system-error.ts'

interface Address {
  readonly host: string
  readonly port: number
}

/** A pick fails only if another process takes the port within the second that a worker needs to start. */
const picksMax = 5

/**
 * Starts the first worker on the port of all workers, also those started later. For port 0 this is a free one; if
 * another process takes it before the worker does, the start is retried on another.
 * @throws OperatorError if the address is not available; what `start` throws
 */
export async function startOnPort<Started>(
  address: Address,
  start: (port: number) => Promise<Started>,
): Promise<Started> {
  if (address.port !== 0) return start(address.port)
  for (let picks = 1; ; picks++) {
    try {
      return await start(await pickPort(address))
    } catch (error) {
      if (picks === picksMax || !isTaken(error)) throw error
    }
  }
}

async function pickPort(address: Address): Promise<number> {
  const probe = createServer()
  const port = await listen(probe, address, 'listen.host and listen.port')
  probe.close()
  await once(probe, 'close')
  return port
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && hasErrorCode(error.cause, 'EADDRINUSE')
}
