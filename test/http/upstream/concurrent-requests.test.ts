import type { IncomingMessage, ServerResponse } from 'node:http'
import t from 'tap'
import { startServer } from '../../setup/backend.ts'
import { type Answer, exchange, openTestUpstream, request } from '../outgoing/exchange.ts'
import { createRandom, cutAtRandom } from '../outgoing/random.ts'

const random = createRandom(42)
const tick = () => new Promise((resolve) => setImmediate(resolve))

/** What the answer to a path must be: of a length that depends on it. */
function expected(path: string): string {
  return `${path};`.repeat(1 + (Number(path.slice(1)) % 97) * 5)
}

/** Answers with the path, in random pieces at random moments. */
async function echo({ url = '', method }: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.from(expected(url))
  if (random.below(2) === 0) response.setHeader('Content-Length', body.length)
  response.setHeader('X-Path', url)
  if (random.below(20) === 0) response.setHeader('Connection', 'close')
  if (random.below(5) === 0) response.writeEarlyHints({ link: `<${url}>; rel=preload` })
  for (let wait = random.below(4); wait > 0; wait--) await tick()
  for (const piece of cutAtRandom(body, random, 800)) {
    if (method !== 'HEAD') response.write(piece)
    if (random.below(3) === 0) await tick()
  }
  response.end()
}

function isRight(path: string, method: string, { head, body, information }: Answer): boolean {
  return (
    head.headers[head.headers.indexOf('X-Path') + 1] === path &&
    body === (method === 'HEAD' ? '' : expected(path)) &&
    information.every(({ headers }) => headers.includes(`<${path}>; rel=preload`))
  )
}

t.test('1,000 consecutive requests each get their own answer', async (t) => {
  const upstream = openTestUpstream(t, await startServer(t, echo))
  const wrong: string[] = []
  for (let id = 0; id < 1_000; id++) {
    const method = random.pick(['GET', 'GET', 'HEAD', 'POST'])
    if (!isRight(`/${id}`, method, await request(upstream, { path: `/${id}`, method }))) wrong.push(`/${id}`)
  }
  t.strictSame(wrong, [])
})

t.test('200 simultaneous requests each get their own answer, over many connections and few', async (t) => {
  const url = await startServer(t, echo)
  for (const connectionsMax of [200, 7, 1]) {
    const upstream = openTestUpstream(t, url, { connectionsMax })
    const results = await Promise.all(
      Array.from({ length: 200 }, async (_, id) => {
        const method = random.pick(['GET', 'GET', 'HEAD', 'POST'])
        return isRight(`/${id}`, method, await request(upstream, { path: `/${id}`, method }))
      }),
    )
    t.equal(results.filter((isOwn) => isOwn).length, 200)
  }
})

t.test('requests cancelled at any moment do not affect others', async (t) => {
  const upstream = openTestUpstream(t, await startServer(t, echo), { connectionsMax: 5 })
  const results = await Promise.all(
    Array.from({ length: 300 }, async (_, id) => {
      const path = `/${id}`
      const { call, answer, events } = exchange(upstream, { path })
      if (id % 3 === 0) return isRight(path, 'GET', await answer)
      for (let wait = random.below(30); wait > 0; wait--) await tick()
      call.cancel()
      const count = events.length
      await tick()
      return events.length === count
    }),
  )
  t.strictSame(
    results.filter((isGood) => !isGood),
    [],
  )
})
