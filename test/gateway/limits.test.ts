import t, { type Test } from 'tap'
import { startCannedBackend, startServer } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw, type RawResponse } from '../setup/raw-client.ts'
import { accessTokenPath, ask, askJson, refreshTokenPath, revokeTokenPath } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

const headersTooLarge = { status: 431, code: 'headers-too-large' }
const bodyTooLarge = { status: 413, code: 'body-too-large' }

/** A request whose line and header fields have just so many bytes, with the empty line at their end. */
function headOf(bytes: number, filler: (room: number) => string): string {
  const start = 'GET /public HTTP/1.1\r\nHost: x\r\n'
  return `${start}${filler(bytes - start.length - 2)}\r\n`
}

const oneHeader = (room: number) => `X: ${'x'.repeat(room - 5)}\r\n`
const manyHeaders = (room: number) => {
  const lines = Array.from({ length: Math.floor(room / 8) - 1 }, (_, index) => `${(index % 1e4) + 1e4}:\r\n`)
  return lines.join('') + oneHeader(room - lines.length * 8)
}

/** A backend that counts the bytes of each whole body, and does not fail if one is aborted. */
async function startCounter(t: Test) {
  const counts: number[] = []
  const url = await startServer(t, (request, response) => {
    let bytes = 0
    request.on('error', () => {})
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    request.on('end', () => {
      counts.push(bytes)
      response.end('ok')
    })
  })
  return { url, counts }
}

for (const [limit, bytes] of [
  ['1KiB', 1_024],
  ['16KiB', 16_384],
] as const) {
  t.test(`limits.headers: ${limit} bounds request line and header fields together`, async (t) => {
    // A backend with no limit of its own.
    const backend = await startCannedBackend(t, 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    const gateway = await startGateway(t, { backend, config: { limits: { headers: limit } } })
    async function send(head: string): Promise<RawResponse> {
      const client = await connectRaw(t, gateway.url)
      const response = await client.send(head).response()
      client.close()
      return response
    }
    for (const filler of [oneHeader, manyHeaders]) {
      await t.test(`a head of exactly ${limit} passes, in ${filler.name}`, async (t) => {
        t.equal((await send(headOf(bytes, filler))).status, 200, `just ${limit}`)
        assertProblem(t, await send(headOf(bytes * 3, filler)), headersTooLarge)
      })
      await t.test(`a head of one byte over ${limit} is 431, in ${filler.name}`, async (t) => {
        for (const over of [1, 100])
          t.equal((await send(headOf(bytes + over, filler))).status, 431, `${over} over`)
      })
    }
    await t.test('a client that sends a head of a megabyte gets its 431', async (t) => {
      // Closing on a client that is still sending would reset the connection before it has read the answer.
      for (let turn = 0; turn < 5; turn++) {
        const response = await send(headOf(1_048_576, oneHeader)).catch(() => undefined)
        t.equal(response?.status, 431)
      }
    })
    const target = await send(`GET /public?${'x'.repeat(bytes)} HTTP/1.1\r\nHost: x\r\n\r\n`)
    assertProblem(t, target, headersTooLarge)
  })
}

t.test('a body of exactly maxBody passes, with a length or chunked', async (t) => {
  const backend = await startCounter(t)
  const route = { upstream: 'backend', auth: 'none' }
  const routes = [
    { ...route, name: 'small', path: '/small', maxBody: '100B' },
    { ...route, name: 'none', path: '/none', maxBody: '0B' },
    { ...route, name: 'default', path: '/default' },
    { ...route, name: 'unlimited', path: '/unlimited', maxBody: 'unlimited' },
  ]
  const gateway = await startGateway(t, { backend: backend.url, config: { routes } })
  const chunked = (path: string, body: string) => {
    const half = Math.ceil(body.length / 2)
    const chunks = [body.slice(0, half), body.slice(half)].filter((chunk) => chunk !== '')
    const lines = [...chunks.flatMap((chunk) => [chunk.length.toString(16), chunk]), '0']
    return ask(t, gateway.url, `POST ${path}`, ['Transfer-Encoding: chunked', '', ...lines])
  }
  const counted = (path: string, body: string) => ask(t, gateway.url, `POST ${path}`, [], body)

  for (const [send, kind] of [
    [counted, 'counted'],
    [chunked, 'chunked'],
  ] as const) {
    for (const [path, allowed] of [
      ['/small', 100],
      ['/none', 0],
    ] as const) {
      t.equal((await send(path, 'x'.repeat(allowed))).status, 200, `just enough, ${kind}`)
      t.equal(backend.counts.at(-1), allowed)
      for (const over of [1, 1_000, 300_000])
        assertProblem(t, await send(path, 'x'.repeat(allowed + over)), bodyTooLarge)
    }
    const mebi = 'x'.repeat(10 * 1_048_576)
    t.equal((await send('/default', mebi)).status, 200, `10 MiB by default, ${kind}`)
    assertProblem(t, await send('/default', `${mebi}x`), bodyTooLarge)
    t.equal((await send('/unlimited', `${mebi}${mebi}`)).status, 200, kind)
    t.equal(backend.counts.at(-1), 2 * mebi.length)
  }
})

t.test('a Content-Length over maxBody is refused before the body, and without 100', async (t) => {
  const listen = { port: 0, requestTimeout: '5s' }
  const { backend, gateway } = await startBoth(t, { config: { listen } })
  for (const path of ['/public', accessTokenPath]) {
    for (const expectation of [[], ['Expect: 100-continue']]) {
      const client = await connectRaw(t, gateway.url)
      const lines = ['Host: x', 'Content-Type: application/json', 'Content-Length: 99999999', ...expectation]
      client.send(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
      t.equal((await client.response()).status, 413, `${path} ${expectation}`)
      client.close()
    }
  }
  t.equal(backend.seen.length, 0)
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
  const isFree = await until('no timer of a request is left', () => timers() === 0, 3_000).catch(() => false)
  t.ok(isFree, 'nothing of a refused request stays behind, to hold the process up when it is to end')
})

t.test("a body for the gateway's own endpoints may have 64 KiB", async (t) => {
  const gateway = await startGateway(t, { config: { listen: { port: 0, requestTimeout: '5s' } } })
  const { secretKey, apiKey } = await gateway.createAccount()
  const { RefreshToken } = await gateway.tokens(await gateway.createAccount())
  const padded = (body: object, bytes: number) => JSON.stringify(body).padEnd(bytes)
  for (const [path, body] of [
    [accessTokenPath, { SecretKey: secretKey, APIKey: apiKey }],
    [refreshTokenPath, { token: RefreshToken }],
    [revokeTokenPath, { token: RefreshToken }],
  ] as const) {
    const send = (text: string) =>
      ask(t, gateway.url, `POST ${path}`, ['Content-Type: application/json'], text)
    t.equal((await send(padded(body, 65_536))).status, 200, path)
    for (const bytes of [65_537, 100_000, 5_000_000])
      assertProblem(t, await send(padded(body, bytes)), bodyTooLarge)
    const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
    const text = padded(body, 70_000)
    const lines = [...headers, '', text.length.toString(16), text, '0']
    assertProblem(t, await ask(t, gateway.url, `POST ${path}`, lines), bodyTooLarge)
  }
  t.equal(
    (await askJson(t, gateway.url, accessTokenPath, { SecretKey: secretKey, APIKey: apiKey })).status,
    200,
  )
})
