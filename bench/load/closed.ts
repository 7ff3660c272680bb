import { once } from 'node:events'
import { type LoadCommand, type LoadResults, requestNumberPlaceholder } from './commands.ts'
import { assertStatus, openSocket, parseResponse } from './connection.ts'

type Closed = Extract<LoadCommand, { kind: 'closed' }>

/** The last request of each connection: a refresh continues where the last run ended. */
const lastRequests = new Map<string, string[]>()

/** A closed loop: every connection sends its next request when the response to the last has arrived. */
export async function runClosed(order: Closed): Promise<LoadResults['closed']> {
  const state = { answers: 0, isOver: false, next: 0 }
  const requests = lastRequests.get(order.url) ?? [...order.requests]
  if (order.isRefresh) lastRequests.set(order.url, requests)
  const begin = performance.now()
  const loops = Array.from({ length: order.connections }, (_, index) =>
    order.isRefresh ? runRefreshes(order, state, requests, index) : runLoop(order, state),
  )
  await new Promise((resolve) => setTimeout(resolve, order.durationMs))
  state.isOver = true
  await Promise.all(loops)
  return { answers: state.answers, elapsedMs: performance.now() - begin }
}

interface State {
  answers: number
  isOver: boolean
  next: number
}

async function runLoop(order: Closed, state: State): Promise<void> {
  const { requests, isNumbered } = order
  await loop(order, state, () => {
    const sent = state.next++
    const request = requests[sent % requests.length] ?? ''
    return isNumbered ? request.replaceAll(requestNumberPlaceholder, String(sent).padStart(12, '0')) : request
  })
}

async function runRefreshes(order: Closed, state: State, requests: string[], index: number): Promise<void> {
  await loop(order, state, (body) => {
    if (body !== undefined) requests[index] = withToken(requests[index] ?? '', body)
    return requests[index] ?? ''
  })
}

async function loop(
  { url, status }: Closed,
  state: State,
  nextRequest: (lastBody: string | undefined) => string,
): Promise<void> {
  const socket = await openSocket(url)
  let received = ''
  socket.setEncoding('latin1')
  socket.on('data', (data: string) => {
    received += data
    const answer = parseResponse(received)
    if (!answer) return
    assertStatus(answer, status)
    received = received.slice(answer.length)
    state.answers++
    // Built even if it is not sent: a later run continues with it.
    const request = nextRequest(answer.body)
    if (state.isOver) socket.end()
    else socket.write(request, 'latin1')
  })
  socket.write(nextRequest(undefined), 'latin1')
  await once(socket, 'close')
  if (!state.isOver) throw new Error('a connection was closed under load')
}

/** The next refresh, from the response to the last: a token grows with the number of its rotations. */
function withToken(request: string, answer: string): string {
  // The cast is sound: every response of this endpoint with status 200 has it.
  const { refreshToken } = JSON.parse(answer) as { readonly refreshToken: string }
  const body = JSON.stringify({ token: refreshToken })
  const head = request.slice(0, request.indexOf('\r\n\r\n') + 4)
  return head.replace(/(?<=\r\nContent-Length: )\d+/, String(body.length)) + body
}
