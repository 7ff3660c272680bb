import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { LoadCommand, LoadResults } from './commands.ts'
import { openSocket } from './connection.ts'
import { openConnections } from './held-connections.ts'

/** Opens WebSockets and leaves them idle. */
export function openWebSockets({
  url,
  request,
  connections,
}: Extract<LoadCommand, { kind: 'idle' }>): Promise<LoadResults['idle']> {
  return openConnections(connections, () => upgrade(url, request))
}

async function upgrade(url: string, request: string): Promise<Socket> {
  const socket = await openSocket(url)
  socket.write(request)
  const [data] = (await once(socket, 'data')) as [Buffer]
  if (!data.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(`not taken: ${data}`)
  return socket
}
