import { once } from 'node:events'
import t from 'tap'
import { startBackend } from '../../setup/backend.ts'
import { makeCertificate } from '../../setup/certificates.ts'
import { startGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { ask, connectHttp2 } from './ask.ts'

/** More than is written before the client reads. */
const largeBytes = 1_000_000

const body = Buffer.alloc(20_000)
/**
 * Request line, body, and the reset that the client sends once it has the head of the response, of whose body it has
 * let the gateway send one byte.
 */
const requests: readonly {
  readonly line: string
  readonly body?: Buffer
  readonly resetCode?: number
  readonly isComplete: boolean
}[] = [
  { line: 'GET /public/1', isComplete: true },
  { line: `GET /public/${largeBytes}`, isComplete: true },
  { line: 'GET /public/chunked', isComplete: true },
  { line: 'GET /public/trailers', isComplete: true },
  { line: 'GET /public/empty', isComplete: true },
  { line: 'GET /public/0', isComplete: true },
  { line: 'HEAD /public/10', isComplete: true },
  { line: 'GET /any/refused', isComplete: true },
  { line: 'POST /public/1', body, isComplete: true },
  { line: `POST /public/${largeBytes}`, body, isComplete: true },
  { line: 'POST /public/chunked', body, isComplete: true },
  { line: 'POST /public/trailers', body, isComplete: true },
  { line: 'POST /public/empty', body, isComplete: true },
  { line: 'POST /any/refused', body, isComplete: true },
  { line: 'GET /public/half', isComplete: false },
  ...['GET', 'POST'].flatMap((method) =>
    ['100', String(largeBytes), 'chunked', 'chunked-large', 'trailers'].flatMap((path) =>
      [0, 8].map((resetCode) => ({
        line: `${method} /public/${path}`,
        ...(method === 'POST' && { body }),
        resetCode,
        isComplete: false,
      })),
    ),
  ),
]

t.test('a response is logged as complete if and only if all of it was sent', async (t) => {
  const backend = await startBackend(t, (request, response) => {
    const path = (request.url ?? '').slice('/public/'.length)
    if (path === 'empty') response.writeHead(204).end()
    else if (path === 'half')
      response.writeHead(200, { 'Content-Length': 9 }).write('half', () => response.destroy())
    else if (path.startsWith('chunked')) {
      response.write('a')
      response.end(path === 'chunked' ? 'b' : Buffer.alloc(largeBytes))
    } else if (path === 'trailers') {
      response.writeHead(200, { Trailer: 'X-Sum' }).write('a')
      response.addTrailers({ 'X-Sum': '1' })
      response.end('b')
    } else response.writeHead(200, { 'Content-Length': path }).end(Buffer.alloc(Number(path)))
  })
  const { key, cert } = makeCertificate(t, 'DNS:localhost,IP:127.0.0.1')
  const dir = t.testdir({ 'tls.key': key, 'tls.crt': cert })
  const tls = { cert: { file: `${dir}/tls.crt` }, key: { file: `${dir}/tls.key` } }
  for (const listen of [{}, { tls }]) {
    const gateway = await startGateway(t, {
      backend: backend.url,
      config: { listen: { port: 0, ...listen } },
    })
    const reading = await connectHttp2(t, gateway.url, cert)
    const holding = await connectHttp2(t, gateway.url, cert, { initialWindowSize: 1 })
    for (const { line, body, resetCode, isComplete } of requests) {
      const [method = '', path = ''] = line.split(' ')
      const what = `${'tls' in listen ? 'TLS' : 'plain'}: ${line}, reset by ${resetCode}`
      const earlier = gateway.logLines.length
      const headers = { ':method': method }
      if (resetCode === undefined) await ask(reading, path, { headers, ...(body !== undefined && { body }) })
      else {
        const stream = holding.request({ ...headers, ':path': path }, { endStream: body === undefined })
        stream.on('error', () => {})
        if (body !== undefined) stream.end(body)
        await once(stream, 'response')
        stream.close(resetCode)
      }
      const logged = await until(what, () => gateway.logLines[earlier])
      t.match(JSON.parse(logged), { method, path, isComplete }, what)
    }
  }
})
