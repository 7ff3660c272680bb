import { once } from 'node:events'
import type { LoadCommand, LoadResults } from './commands.ts'
import { assertStatus, openSocket, parseResponse } from './connection.ts'
import { createDistinctRequests, type DistinctRequests } from './distinct-requests.ts'

type Distinct = Extract<LoadCommand, { kind: 'distinct' }>

/** How many requests a connection sends at once. */
const pipelined = 16

/** Sends requests of which no two are the same; each connection sends the next ones when all before are answered. */
export async function runDistinct(order: Distinct): Promise<LoadResults['distinct']> {
  const { url, what, callersFile, count, connections } = order
  const requests = createDistinctRequests(what, callersFile, count)
  const progress = { next: 0, answers: 0, count }
  const begin = performance.now()
  await Promise.all(Array.from({ length: connections }, () => sendAll(url, requests, progress)))
  return { answers: progress.answers, elapsedMs: performance.now() - begin }
}

interface Progress {
  readonly count: number
  next: number
  answers: number
}

async function sendAll(url: string, { status, write }: DistinctRequests, progress: Progress): Promise<void> {
  const socket = await openSocket(url)
  let received = ''
  let open = 0

  function sendNext(): void {
    let batch = ''
    for (; open < pipelined && progress.next < progress.count; open++) batch += write(progress.next++)
    if (open === 0) socket.end()
    else socket.write(batch, 'latin1')
  }

  socket.setEncoding('latin1')
  socket.on('data', (data: string) => {
    received += data
    for (;;) {
      const answer = parseResponse(received)
      if (!answer) return
      assertStatus(answer, status)
      received = received.slice(answer.length)
      progress.answers++
      open--
      if (open === 0) return sendNext()
    }
  })
  sendNext()
  await once(socket, 'close')
  if (open > 0) throw new Error('a connection was closed under load')
}
