import { type ClientHttp2Session, connect } from 'node:http2'
import { type LoadCommand, type LoadResults, requestNumberPlaceholder } from './commands.ts'

type ClosedH2 = Extract<LoadCommand, { kind: 'closedH2' }>

/** A closed loop over HTTP/2 in which no request is like one before: h2load sends the same fields each time. */
export async function runClosedH2(order: ClosedH2): Promise<LoadResults['closedH2']> {
  const { url, fields, connections, streams, durationMs } = order
  const { origin, pathname } = new URL(url)
  let sent = 0
  let answers = 0
  let isOver = false

  function nextFields(): Record<string, string> {
    const number = String(sent).padStart(12, '0')
    const next: Record<string, string> = { ':path': pathname }
    for (const [name, value] of Object.entries(fields[sent++ % fields.length] ?? {}))
      next[name] = value.replaceAll(requestNumberPlaceholder, number)
    return next
  }

  function send(session: ClientHttp2Session): Promise<void> {
    return new Promise((resolve, reject) => {
      const stream = session.request(nextFields(), { endStream: true })
      stream.on('response', ({ ':status': status }) => {
        if (status !== 200) reject(new Error(`answered with ${status}`))
      })
      stream.on('error', reject)
      stream.on('end', () => {
        answers++
        resolve()
      })
      stream.resume()
    })
  }

  async function loop(session: ClientHttp2Session): Promise<void> {
    while (!isOver) await send(session)
  }

  const begin = performance.now()
  // The certificate is the bench's own.
  const sessions = Array.from({ length: connections }, () => connect(origin, { rejectUnauthorized: false }))
  const loops = sessions.flatMap((session) => Array.from({ length: streams }, () => loop(session)))
  const timer = setTimeout(() => {
    isOver = true
  }, durationMs)
  try {
    await Promise.all(loops)
  } finally {
    clearTimeout(timer)
    for (const session of sessions) session.destroy()
  }
  return { answers, elapsedMs: performance.now() - begin }
}
