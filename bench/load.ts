import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Where the load goes, and with what. */
interface Load {
  readonly url: string
  readonly path: string
  readonly header: string
  readonly connections: number
  readonly durationMs: number
}

const headEnd = '\r\n\r\n'

/**
 * A closed loop: every connection sends its next request when the answer to the last has come. Run as a
 * process of its own, it takes one Load as a message and sends back how many answers came.
 */
process.on('message', async (load: Load) => {
  const { hostname, port } = new URL(load.url)
  const request = `GET ${load.path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUser-Agent: load\r\n${load.header}\r\n`
  let answers = 0
  const sockets: Socket[] = []
  for (let index = 0; index < load.connections; index++) {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    await once(socket, 'connect')
    sockets.push(socket)
    let received = ''
    socket.on('data', (data) => {
      received += data.toString('latin1')
      const end = received.indexOf(headEnd)
      if (end === -1 || !received.endsWith('}')) return
      if (!received.startsWith('HTTP/1.1 200')) throw new Error(`not the answer expected: ${received}`)
      received = ''
      answers++
      socket.write(request)
    })
    socket.write(request)
  }
  await new Promise((resolve) => setTimeout(resolve, load.durationMs))
  for (const socket of sockets) socket.destroy()
  process.send?.({ answers })
})
process.on('disconnect', () => process.exit())
