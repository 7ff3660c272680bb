import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Address, listen } from '#gateway/server/listen.ts'
import { hasErrorCode } from '#platform/errors/operator-error.ts'

/** The ports of a worker's listeners; undefined = not configured. */
export interface WorkerPorts {
  readonly listen: number
  readonly decide: number | undefined
  /** Port of the listener that redirects plain HTTP, if it is configured. */
  readonly redirect: number | undefined
}

/** Where the workers listen; undefined = there is no such listener. */
interface Addresses {
  readonly listen: Address
  readonly decide: Address | undefined
  readonly redirect: Address | undefined
}

/** A pick fails only if another process takes the port within the second that a worker needs to start. */
const picksMax = 5

/**
 * Starts the first worker on the ports of all workers, including those started later. Port 0 means a free one; if
 * another process takes it before the worker does, the start is retried on another.
 * @throws OperatorError if an address is not available, and what `start` throws
 */
export async function startOnPorts<Started>(
  addresses: Addresses,
  start: (ports: WorkerPorts) => Promise<Started>,
): Promise<Started> {
  const isChosen = Object.values(addresses).every((address) => address?.port !== 0)
  for (let picks = 1; ; picks++) {
    try {
      return await start(await pickPorts(addresses))
    } catch (error) {
      if (isChosen || picks === picksMax || !isTaken(error)) throw error
    }
  }
}

async function pickPorts({ listen: main, decide, redirect }: Addresses): Promise<WorkerPorts> {
  return {
    listen: await pickPort(main, 'listen.host and listen.port'),
    decide: decide && (await pickPort(decide, 'decide.host and decide.port')),
    redirect: redirect && (await pickPort(redirect, 'listen.host and listen.redirect.port')),
  }
}

async function pickPort(address: Address, optionNames: string): Promise<number> {
  if (address.port !== 0) return address.port
  const probe = createServer()
  const port = await listen(probe, address, optionNames)
  probe.close()
  await once(probe, 'close')
  return port
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && hasErrorCode(error.cause, 'EADDRINUSE')
}
