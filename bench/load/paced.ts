import type { Socket } from 'node:net'
import { quantile } from '../figures.ts'
import type { LoadCommand, LoadResults } from './commands.ts'
import { assertStatus, openSocket, parseResponse } from './connection.ts'

type Paced = Extract<LoadCommand, { kind: 'paced' }>

/**
 * An open loop: a fixed rate of requests, whether or not responses arrive. A request that is due while all
 * connections are busy waits, and its wait counts.
 */
export async function runPaced(order: Paced): Promise<LoadResults['paced']> {
  const { url, requests, status, connections, durationMs, perSecond } = order
  const idle: Lane[] = []
  const waiting: number[] = []
  const latencies: number[] = []
  let sent = 0

  function send(lane: Lane, dueAt: number): void {
    lane.dueAt = dueAt
    lane.socket.write(requests[sent++ % requests.length] ?? '', 'latin1')
  }
  function receive(lane: Lane): void {
    const answer = parseResponse(lane.received)
    if (!answer) return
    assertStatus(answer, status)
    lane.received = lane.received.slice(answer.length)
    latencies.push(performance.now() - lane.dueAt)
    const dueAt = waiting.shift()
    if (dueAt === undefined) idle.push(lane)
    else send(lane, dueAt)
  }
  const lanes = await Promise.all(Array.from({ length: connections }, () => openLane(url, receive)))
  idle.push(...lanes)
  await tick(durationMs, (elapsedMs) => {
    const now = performance.now()
    while (sent + waiting.length < (elapsedMs * perSecond) / 1_000) {
      const lane = idle.pop()
      if (lane) send(lane, now)
      else waiting.push(now)
    }
  })
  for (const { socket } of lanes) socket.destroy()
  return {
    answers: latencies.length,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
  }
}

/** A connection, and since when its request is due. */
interface Lane {
  readonly socket: Socket
  received: string
  dueAt: number
}

async function openLane(url: string, receive: (lane: Lane) => void): Promise<Lane> {
  const lane: Lane = { socket: await openSocket(url), received: '', dueAt: 0 }
  lane.socket.setEncoding('latin1')
  lane.socket.on('data', (data: string) => {
    lane.received += data
    receive(lane)
  })
  return lane
}

/** About every millisecond, for some time. */
function tick(durationMs: number, work: (elapsedMs: number) => void): Promise<void> {
  const begin = performance.now()
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const elapsedMs = performance.now() - begin
      if (elapsedMs < durationMs) return work(elapsedMs)
      clearInterval(timer)
      resolve()
    }, 1)
  })
}
