import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import t from 'tap'
import { releaseBuffer } from '#http/read-memory.ts'
import { startServer } from '../../setup/backend.ts'
import { startProxy } from './proxies.ts'

const size = 6_000_000
/** One after the other, so that the connections to the upstream go from one to the next. */
const rounds = 2
/** At the same time, each with pieces of its length: around that from which on they are not copied. */
const pieceLengths = [700, 16_384, 16_385, 65_536, 200_000]

const tick = () => new Promise((resolve) => setImmediate(resolve))

/** Reads now and then, so that what is written to it has to wait. @returns the SHA-256 of what it read */
async function readWithBreaks(from: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256')
  let count = 0
  for await (const chunk of from) {
    hash.update(chunk)
    for (let wait = count++ % 7; wait > 0; wait--) await tick()
  }
  return hash.digest('hex')
}

async function writeInPieces(to: NodeJS.WritableStream, body: Buffer, length: number): Promise<void> {
  for (let from = 0; from < body.length; from += length) {
    if (!to.write(body.subarray(from, from + length))) await once(to, 'drain')
  }
  to.end()
}

async function exchange(url: string, body: Buffer, headers: Record<string, string>, length: number) {
  const asked = request(url, { method: 'POST', headers, agent: false })
  const answered = once(asked, 'response')
  const written = writeInPieces(asked, body, length)
  const [response] = (await answered) as [IncomingMessage]
  const read = await readWithBreaks(response)
  await written
  return read
}

for (const framing of ['counted', 'chunked'] as const) {
  t.test(`${framing} bodies to and from those who read with breaks stay what they were`, async (t) => {
    const upstream = await startServer(t, (incoming, response) => {
      const length = incoming.headers['content-length']
      response.writeHead(200, length === undefined ? {} : { 'Content-Length': length })
      incoming.pipe(response)
    })
    const { url } = await startProxy(t, upstream)
    for (let round = 0; round < rounds; round++) {
      const outcomes = await Promise.all(
        pieceLengths.map(async (length) => {
          const body = randomBytes(size)
          const headers = framing === 'counted' ? { 'Content-Length': String(size) } : {}
          const read = await exchange(url, body, headers, length)
          return read === createHash('sha256').update(body).digest('hex')
        }),
      )
      t.strictSame(
        outcomes,
        pieceLengths.map(() => true),
      )
    }
  })
}

t.test('only whole and large buffers are released', async (t) => {
  const large = Buffer.allocUnsafeSlow(16_385)
  releaseBuffer(large)
  t.equal(large.length, 0, 'nothing is left to be read by mistake')
  for (const kept of [
    Buffer.allocUnsafeSlow(16_384),
    Buffer.allocUnsafeSlow(20_000).subarray(1),
    Buffer.from(new SharedArrayBuffer(20_000)),
  ]) {
    const { length } = kept
    releaseBuffer(kept)
    t.equal(kept.length, length)
  }
})
