import t, { type Test } from 'tap'
import { headOf, startProxy } from '../gateway/forward/proxies.ts'
import { ask } from '../gateway/support/ask.ts'
import { startServer } from '../setup/backend.ts'
import { until } from '../setup/net.ts'
import { connectRaw, type RawClient } from '../setup/raw-client.ts'

/** A backend that answers once it has the whole body. */
async function startBackend(t: Test) {
  const seen: { readonly path: string; readonly body: string }[] = []
  const url = await startServer(t, (request, response) => {
    let body = ''
    request.on('error', () => {})
    request.on('data', (chunk) => {
      body += String(chunk)
    })
    request.on('end', () => {
      seen.push({ path: request.url ?? '', body })
      response.end('ok')
    })
  })
  return { url, seen }
}

/** Clients that each announce a large body and send of it one byte now, and later more. */
async function startSlowUploads(t: Test, url: string, count: number) {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const client = await connectRaw(t, url)
      return client.send(`${headOf('POST /slow HTTP/1.1', 'Content-Length: 1000000')}x`)
    }),
  )
}

function sendABit(clients: readonly RawClient[], bit: string): void {
  for (const client of clients) if (!client.socket.destroyed) client.send(bit)
}

for (const [what, bit] of [
  ['one byte at a time', 'x'],
  ['much at first', 'x'.repeat(100_000)],
] as const) {
  t.test(`128 uploads that send ${what} block no other client of the upstream`, async (t) => {
    const backend = await startBackend(t)
    const { url } = await startProxy(t, backend.url)
    const slow = await startSlowUploads(t, url, 200)
    for (let turn = 0; turn < 30; turn++) {
      if (turn < 3) sendABit(slow, bit)
      t.equal((await ask(t, url, 'GET /x')).status, 200)
      t.equal((await ask(t, url, 'POST /x', [], 'whole')).status, 200)
    }
  })
}

t.test('an upload slower than limits.bodyRate is 408, and its connection ends', async (t) => {
  const backend = await startBackend(t)
  const { url } = await startProxy(t, backend.url)
  const [sent = undefined] = await startSlowUploads(t, url, 1)
  const own = await connectRaw(t, url)
  const fields = ['Content-Type: application/json', 'Content-Length: 99']
  own.send(`${headOf('POST /api/v1/accounts/access-token HTTP/1.1', ...fields)}{`)
  for (const client of [sent, own]) {
    if (!client) throw new Error('no client')
    const { status, headers } = await client.response()
    t.strictSame([status, headers.connection], [408, 'close'])
    await client.ended()
  }
})

t.test('a body sent while its upstream is saturated arrives whole', async (t) => {
  const backend = await startBackend(t)
  const { url } = await startProxy(t, backend.url, { upstream: { connections: 1 } })
  const [first = undefined] = await startSlowUploads(t, url, 1)
  const bodies = [5, 60_000, 300_000].map((length) => 'y'.repeat(length))
  const waiting = await Promise.all(
    bodies.map(async (body) => {
      const client = await connectRaw(t, url)
      return client.send(headOf('POST /waiting HTTP/1.1', `Content-Length: ${body.length}`) + body)
    }),
  )
  first?.send('x'.repeat(999_999))
  for (const client of [...waiting, first]) t.equal((await client?.response())?.status, 200)
  const seen = backend.seen.filter(({ path }) => path === '/waiting').map(({ body }) => body)
  t.strictSame(new Set(seen), new Set(bodies))
})

t.test('a client that leaves while its body waits for a connection leaves nothing behind', async (t) => {
  const backend = await startBackend(t)
  const { url } = await startProxy(t, backend.url, { upstream: { connections: 1 } })
  const [first = undefined] = await startSlowUploads(t, url, 1)
  const others = await startSlowUploads(t, url, 5)
  for (const client of others) client.close()
  first?.send('x'.repeat(999_999))
  t.equal((await first?.response())?.status, 200)
  t.equal((await ask(t, url, 'GET /x')).status, 200)
  await until('only whole requests came', () => backend.seen.length === 2)
})
