import { connect, createServer } from 'node:net'
import { reportUrl } from '../report-url.ts'

/** Holds the same two connections for each client as a proxy does, and forwards bytes: nothing else. */
const { port, hostname } = new URL(process.argv[2] ?? '')

reportUrl(
  createServer((client) => {
    const upstream = connect(Number(port), hostname)
    client.on('data', (data) => upstream.write(data))
    upstream.on('data', (data) => client.write(data))
    for (const [one, other] of [[client, upstream] as const, [upstream, client] as const]) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  }),
)
