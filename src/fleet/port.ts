import { once } from 'node:events'
import { createServer } from 'node:net'
import { listen } from '../http/listen.ts'

/**
 * The port that all workers listen on, also those started later; for port 0 one that is free now.
 * @throws OperatorError where the address is not available
 */
export async function pickPort(address: { readonly host: string; readonly port: number }): Promise<number> {
  if (address.port !== 0) return address.port
  const probe = createServer()
  const port = await listen(probe, address, 'listen.host and listen.port')
  probe.close()
  await once(probe, 'close')
  return port
}
