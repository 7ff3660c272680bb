import type { IncomingMessage } from 'node:http'
import { listen } from '#gateway/server/listen.ts'
import { createServer } from '#platform/http.ts'

/** A backend for trying out the gateway. */
interface EchoServer {
  /** Such as `http://127.0.0.1:41234`. */
  readonly url: string
  close(): void
}

const shownBytesMax = 65_536

/** Starts a backend on a free port of this machine that answers with the request that it received, as JSON. */
export async function openEchoServer(): Promise<EchoServer> {
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request
    const body = await readText(request)
    const answer = JSON.stringify(
      { message: 'This is the demo backend. It received:', method, url, headers, body },
      undefined,
      2,
    )
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(answer),
    })
    response.end(answer)
  })
  const port = await listen(server, { host: '127.0.0.1', port: 0 }, 'upstreams.demo')
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The part of the body that is shown; the rest is read and dropped. */
async function readText(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) {
    if (text.length < shownBytesMax) text += String(chunk)
  }
  return text.slice(0, shownBytesMax)
}
