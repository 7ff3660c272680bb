import { once } from 'node:events'
import type { Socket } from 'node:net'
import { open } from './connection.ts'
import { hold } from './held.ts'
import type { Answers, Order } from './order.ts'

/** Opens WebSockets and leaves them alone. */
export function runIdle({
  url,
  request,
  connections,
}: Extract<Order, { kind: 'idle' }>): Promise<Answers['idle']> {
  return hold(connections, () => upgrade(url, request))
}

async function upgrade(url: string, request: string): Promise<Socket> {
  const socket = await open(url)
  socket.write(request)
  const [data] = (await once(socket, 'data')) as [Buffer]
  if (!data.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(`not taken: ${data}`)
  return socket
}
