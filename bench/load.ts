import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Where the load goes, and with what. */
export interface Load {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Header lines, each ended by CR LF. */
  readonly header: string
  /** One for each connection; none for GET. */
  readonly bodies: readonly string[]
  /** Each answer has the refresh token that the next request of the connection sends. */
  readonly isRefresh: boolean
  readonly connections: number
  readonly durationMs: number
}

const headEnd = '\r\n\r\n'

/** The last bodies of each path: a refresh goes on where the last run ended. */
const lastBodies = new Map<string, string[]>()

/**
 * A closed loop: every connection sends its next request when the answer to the last has come. Run as a
 * process of its own, it takes one Load as a message and sends back how many answers came.
 */
process.on('message', async (load: Load) => {
  const bodies = lastBodies.get(load.path) ?? [...load.bodies]
  lastBodies.set(load.path, bodies)
  let answers = 0
  let isOver = false
  const connections = Array.from({ length: load.connections }, async (_, index) => {
    const socket = await open(load)
    let request = requestOf(load, bodies[index] ?? '')
    let received = ''
    socket.on('data', (data) => {
      received += data.toString('latin1')
      const end = received.indexOf(headEnd)
      if (end === -1 || !received.endsWith('}')) return
      if (!received.startsWith('HTTP/1.1 200')) throw new Error(`not the answer expected: ${received}`)
      if (load.isRefresh) {
        bodies[index] = refreshOf(received.slice(end))
        request = requestOf(load, bodies[index])
      }
      received = ''
      answers++
      if (isOver) socket.end()
      else socket.write(request)
    })
    socket.write(request)
    await once(socket, 'close')
  })
  await new Promise((resolve) => setTimeout(resolve, load.durationMs))
  isOver = true
  await Promise.all(connections)
  process.send?.({ answers })
})
process.on('disconnect', () => process.exit())

async function open({ url }: Load): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  return socket
}

function requestOf({ url, method, path, header }: Load, body: string): string {
  const { host } = new URL(url)
  const length =
    method === 'POST' ? `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n` : ''
  return `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: load\r\n${header}${length}\r\n${body}`
}

/** The body of the next refresh, from the answer to the last. */
function refreshOf(answer: string): string {
  // The cast is sound: every answer of this endpoint with status 200 has it.
  const { refreshToken } = JSON.parse(answer) as { readonly refreshToken: string }
  return JSON.stringify({ token: refreshToken })
}
