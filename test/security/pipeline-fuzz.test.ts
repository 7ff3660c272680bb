import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createRandom, cutAtRandom, type Random } from '../http/outgoing/random.ts'
import { startBoth } from '../setup/both.ts'
import { connectRaw } from '../setup/raw-client.ts'

interface Made {
  readonly bytes: Buffer
  readonly url: string
  readonly body: string
  readonly status: number
}

const hidden = 'GET /public/hidden HTTP/1.1\r\nHost: x\r\n\r\n'

/** A request whose body may look like another request. */
function makeRequest(random: Random, index: number): Made {
  const isRefused = random.below(4) === 0
  const url = `/${isRefused ? 'key' : 'public'}/${index}`
  const head = `${random.pick(['GET', 'POST', 'QUERY', 'PUT'])} ${url} HTTP/1.1\r\nHost: x\r\n`
  const body = random.pick(['', hidden, 'x'.repeat(random.below(3_000)), `0\r\n\r\n${hidden}`, '\r\n\r\n'])
  const framing = random.below(3)
  const status = isRefused ? 401 : 200
  if (framing === 0) return { bytes: Buffer.from(`${head}\r\n`), url, body: '', status }
  if (framing === 1) {
    return { bytes: Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n${body}`), url, body, status }
  }
  const chunks = cutAtRandom(Buffer.from(body), random, 900).map(
    (chunk) => `${chunk.length.toString(16)}\r\n${chunk.toString()}\r\n`,
  )
  const trailers = random.pick(['', 'X-Sum: 1\r\n'])
  const text = `${head}Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n${trailers}\r\n`
  return { bytes: Buffer.from(text), url, body, status }
}

t.test('pipelined requests are kept apart however they are split, refused ones too', async (t) => {
  const random = createRandom(5)
  const { backend, gateway } = await startBoth(t)
  for (let round = 0; round < 60; round++) {
    backend.seen.length = 0
    const requests = Array.from({ length: 1 + random.below(8) }, (_, index) => makeRequest(random, index))
    const client = await connectRaw(t, gateway.url)
    const sent = Buffer.concat(requests.map(({ bytes }) => bytes))
    for (const piece of cutAtRandom(sent, random, random.pick([3, 50, 5_000]))) {
      client.send(piece)
      if (random.below(3) === 0) await turn()
    }
    const statuses: number[] = []
    for (const _ of requests) statuses.push((await client.response()).status)
    t.strictSame(
      statuses,
      requests.map(({ status }) => status),
    )
    t.strictSame(
      backend.seen.map(({ url, body }) => ({ url, body })),
      requests.filter(({ status }) => status === 200).map(({ url, body }) => ({ url, body })),
    )
    client.close()
  }
})
