import { randomInt } from 'node:crypto'
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { type Call, type Response, timeoutMs } from './send.ts'

/** So that every worker of an instance most likely has one. */
const connectionsEach = 6

/** Sends requests over few connections of HTTP/2 to each instance, and opens those that end again. */
export function createHttp2Sender() {
  const byOrigin = new Map<string, (ClientHttp2Session | undefined)[]>()

  function sessionTo(origin: string): ClientHttp2Session {
    const sessions = byOrigin.get(origin) ?? []
    byOrigin.set(origin, sessions)
    const at = randomInt(connectionsEach)
    const kept = sessions[at]
    if (kept !== undefined && !kept.closed && !kept.destroyed) return kept
    const session = connect(origin)
    // Its streams say what becomes of them.
    session.on('error', () => {})
    sessions[at] = session
    return session
  }

  function send({ url, method, headers, body, cutAfterMs }: Call): Promise<Response> {
    const { origin, pathname } = new URL(url)
    const { promise, resolve } = Promise.withResolvers<Response>()
    const fields = { ':method': method, ':path': pathname, ...headers }
    const stream = sessionTo(origin).request(fields, { endStream: body === undefined })
    const cancel = () => stream.close(constants.NGHTTP2_CANCEL)
    let status = 0
    let text = ''
    let isComplete = false
    stream.setEncoding('utf8')
    stream.on('response', ({ ':status': code = 0 }) => {
      status = code
    })
    stream.on('data', (chunk: string) => {
      text += chunk
    })
    stream.on('end', () => {
      isComplete = (stream.rstCode ?? 0) === constants.NGHTTP2_NO_ERROR
    })
    stream.on('error', () => {})
    stream.on('close', () => resolve({ status: isComplete ? status : 0, text }))
    stream.setTimeout(timeoutMs, cancel)
    if (cutAfterMs !== undefined) setTimeout(cancel, cutAfterMs)
    if (body !== undefined) stream.end(body)
    return promise
  }

  return {
    send,
    close: () => {
      for (const session of [...byOrigin.values()].flat()) session?.destroy()
    },
  }
}
