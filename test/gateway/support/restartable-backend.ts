import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Test } from 'tap'
import { freePort } from '../../setup/net.ts'

/** A real server that can die, and come back at the same port. */
export interface MortalBackend {
  readonly url: string
  /** Requests it has answered, checks left out. */
  count(): number
  die(): Promise<void>
  revive(): Promise<void>
}

/** It answers `ok`, checks at /healthz too. */
export async function startMortalBackend(t: Test): Promise<MortalBackend> {
  const port = await freePort()
  let answered = 0
  let server = create()

  function create() {
    return createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      if (request.url !== '/healthz') answered++
      request.resume()
      response.end('ok')
    })
  }

  async function revive(): Promise<void> {
    server = create()
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }

  async function die(): Promise<void> {
    if (!server.listening) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }

  await revive()
  t.teardown(die)
  return { url: `http://127.0.0.1:${port}`, count: () => answered, die, revive }
}
