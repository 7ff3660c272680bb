import { createCipheriv, createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type ClientHttp2Session, constants } from 'node:http2'
import t, { type Test } from 'tap'
import { startBoth } from '../../setup/both.ts'
import { makeCertificate } from '../../setup/certificates.ts'
import { connectHttp2 } from './ask.ts'

const chunkBytes = 262_144
const chunks = 64
const zeros = Buffer.alloc(chunkBytes)

/** Bytes that differ with each path and place, so that none can stand for another. */
function* bodyOf(path: string): Generator<Buffer> {
  const key = createHash('sha256').update(path).digest()
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  for (let count = 0; count < chunks; count++) yield cipher.update(zeros)
}

function digestOf(path: string): string {
  const hash = createHash('sha256')
  for (const chunk of bodyOf(path)) hash.update(chunk)
  return hash.digest('hex')
}

async function sendBody(path: string, response: ServerResponse): Promise<void> {
  if (path.includes('counted')) response.setHeader('Content-Length', chunkBytes * chunks)
  for (const chunk of bodyOf(path)) {
    if (response.destroyed) return
    if (!response.write(chunk))
      await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
  }
  response.end()
}

/** @param pauseEvery after so many chunks the client stops reading until the next turn of the loop */
function read(session: ClientHttp2Session, path: string, pauseEvery: number): Promise<string> {
  const stream = session.request({ ':path': path })
  const hash = createHash('sha256')
  let count = 0
  stream.on('error', () => {})
  stream.on('data', (chunk: Buffer) => {
    hash.update(chunk)
    if (++count % pauseEvery !== 0) return
    stream.pause()
    setImmediate(() => stream.resume())
  })
  return new Promise((resolve) => stream.on('close', () => resolve(hash.digest('hex'))))
}

/** Reads a little, and goes away. */
function cancel(session: ClientHttp2Session, path: string): Promise<void> {
  const stream = session.request({ ':path': path })
  stream.on('error', () => {})
  stream.once('data', () => stream.close(constants.NGHTTP2_CANCEL))
  return new Promise((resolve) => stream.on('close', resolve))
}

async function startListening(t: Test, listen: object): Promise<string> {
  const { url } = await startBoth(t, {
    answer: (request, response) => void sendBody(request.url ?? '', response),
    config: { listen: { port: 0, ...listen } },
  })
  return url
}

for (const way of ['without TLS', 'over TLS']) {
  t.test(`long bodies of HTTP/2 arrive byte for byte beside cancelled ones, ${way}`, async (t) => {
    const { key, cert } = makeCertificate(t, 'DNS:localhost,IP:127.0.0.1')
    const dir = t.testdir({ 'tls.key': key, 'tls.crt': cert })
    const tls = { cert: { file: `${dir}/tls.crt` }, key: { file: `${dir}/tls.key` } }
    const session = await connectHttp2(t, await startListening(t, way === 'over TLS' ? { tls } : {}), cert)
    const paths = ['/public/counted/a', '/public/chunked/a', '/public/counted/b', '/public/chunked/b']
    const cancelled = Array.from({ length: 8 }, (_, index) => cancel(session, `/public/counted/gone${index}`))
    const received = await Promise.all(paths.map((path, index) => read(session, path, 1 + index * 7)))
    await Promise.all(cancelled)
    t.strictSame(received, paths.map(digestOf))
  })
}
