import { Agent, request } from 'node:http'
import { type Call, type Response, timeoutMs } from './send.ts'

/** Sends requests over connections of HTTP/1.1 that are kept. */
export function createHttp1Sender() {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })

  function send({ url, method, headers, body, cutAfterMs }: Call): Promise<Response> {
    const { promise, resolve } = Promise.withResolvers<Response>()
    const finish = (status: number, text = '') => resolve({ status, text })
    const call = request(url, { method, agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => finish(response.complete ? (response.statusCode ?? 0) : 0, text))
      response.on('error', () => finish(0))
    })
    call.setTimeout(timeoutMs, () => call.destroy())
    call.on('error', () => finish(0))
    if (cutAfterMs !== undefined) setTimeout(() => call.destroy(), cutAfterMs)
    call.end(body)
    return promise
  }

  return { send, close: () => agent.destroy() }
}
