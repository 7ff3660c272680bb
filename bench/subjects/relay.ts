import { connect, type Socket } from 'node:net'
import { serveSockets } from '../socket-server.ts'

/** Holds the same two connections for each client as a proxy does, and forwards bytes: nothing else. */
const [upstreamUrl = '', ...tlsFiles] = process.argv.slice(2)
const { port, hostname } = new URL(upstreamUrl)

function relay(client: Socket): void {
  const upstream = connect({ port: Number(port), host: hostname, noDelay: true })
  client.on('data', (data) => upstream.write(data))
  upstream.on('data', (data) => client.write(data))
  for (const [one, other] of [[client, upstream] as const, [upstream, client] as const]) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
  }
}

await serveSockets(tlsFiles, relay)
