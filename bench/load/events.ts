import type { Socket } from 'node:net'
import { quantile } from '../figures.ts'
import type { LoadCommand, LoadResults } from './commands.ts'
import { openSocket } from './connection.ts'
import { openConnections } from './held-connections.ts'

/** How late each event was, while counting is on. */
let latencies: number[] | undefined

/** Opens event streams, waiting for the first event of each. */
export function openEventStreams({
  url,
  request,
  connections,
}: Extract<LoadCommand, { kind: 'listen' }>): Promise<LoadResults['listen']> {
  return openConnections(connections, () => listen(url, request))
}

/** Counts the events of the open streams. */
export async function countEvents({
  durationMs,
}: Extract<LoadCommand, { kind: 'hear' }>): Promise<LoadResults['hear']> {
  const heard: number[] = []
  latencies = heard
  const begin = performance.now()
  await new Promise((resolve) => setTimeout(resolve, durationMs))
  latencies = undefined
  const elapsedMs = performance.now() - begin
  return { events: heard.length, elapsedMs, p50Ms: quantile(heard, 0.5), p99Ms: quantile(heard, 0.99) }
}

async function listen(url: string, request: string): Promise<Socket> {
  const socket = await openSocket(url)
  socket.setEncoding('latin1')
  return new Promise((resolve, reject) => {
    socket.on('data', (data: string) => {
      for (const [, sentAt = ''] of data.matchAll(/"sent":"(\d+)"/g)) {
        latencies?.push(Number(process.hrtime.bigint() - BigInt(sentAt)) / 1e6)
        resolve(socket)
      }
      if (/^HTTP\/1\.1 [345]/.test(data)) reject(new Error(`not the answer expected: ${data}`))
    })
    socket.on('error', reject)
    socket.write(request)
  })
}
