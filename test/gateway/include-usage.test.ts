import { once } from 'node:events'
import { connect, createServer } from 'node:http2'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { heldBytesMax } from '#gateway/forward/held-bodies.ts'
import { type Backend, type ReceivedRequest, startBackend, startRawBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { freePort, portOf, until } from '../setup/net.ts'
import { connectRaw, rawRequest } from '../setup/raw-client.ts'
import { reloadWith, taken } from './support/reload.ts'

const asked = '{"stream_options":{"include_usage":true},"model":"é","stream":true}'
const question = '{"model":"é","stream":true}'
const latin1 = (text: string) => Buffer.from(text).toString('latin1')
const json = 'Content-Type: application/json'

async function startHttp2Backend(t: Test): Promise<Backend> {
  const seen: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method, url, rawHeaders } = request
    const body = Buffer.concat(chunks).toString('latin1')
    // The cast is sound: both are of names and texts.
    const headers = request.headers as ReceivedRequest['headers']
    seen.push({ method, url, rawHeaders, trailers: {}, headers, body })
    response.end('ok')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const last = () => seen.at(-1) ?? t.bailout('the backend has seen no request')
  return { url: `http://127.0.0.1:${portOf(server)}`, seen, last } as Backend
}

interface Options {
  readonly protocol?: 'http1' | 'http2'
  readonly route?: Readonly<Record<string, unknown>>
  readonly config?: Readonly<Record<string, unknown>>
  /** Laid over the upstream. */
  readonly upstream?: Readonly<Record<string, unknown>>
}

async function start(t: Test, { protocol = 'http1', route = {}, config = {}, upstream = {} }: Options = {}) {
  const backend = await (protocol === 'http1' ? startBackend(t) : startHttp2Backend(t))
  const gateway = await startGateway(t, {
    config: {
      upstreams: { backend: { targets: [{ url: backend.url }], protocol, ...upstream } },
      routes: [
        {
          ...{ name: 'models', path: '/', upstream: 'backend', auth: 'any' },
          ...{ costField: 'usage.total_tokens', includeUsage: true, ...route },
        },
      ],
      ...config,
    },
  })
  const { secretKey } = await gateway.createAccount()
  const lines = (...more: readonly string[]) => [
    ...['POST /v1/chat HTTP/1.1', 'Host: models.test', `SecretKey: ${secretKey}`, ...more],
  ]
  return { backend, gateway, secretKey, lines }
}

for (const protocol of ['http1', 'http2'] as const)
  t.test(`a body that is cut at any byte gets the member, to a backend of ${protocol}`, async (t) => {
    const { backend, gateway, secretKey, lines } = await start(t, { protocol })
    const session = connect(gateway.url)
    t.teardown(() => session.destroy())
    const bytes = Buffer.from(question)
    const client = await connectRaw(t, gateway.url)
    client.socket.setNoDelay(true)
    const pieces = (cut: number) => [bytes.subarray(0, cut), bytes.subarray(cut)] as const
    const ways: Readonly<Record<string, (cut: number) => Promise<unknown>>> = {
      counted: async (cut) => {
        const [first, rest] = pieces(cut)
        client.send(`${lines(json, `Content-Length: ${bytes.length}`).join('\r\n')}\r\n\r\n`).send(first)
        await nextTurn()
        return (await client.send(rest).response()).status
      },
      chunked: async (cut) => {
        const [first, rest] = pieces(cut).map(
          (piece) => `${piece.length.toString(16)}\r\n${piece.toString('latin1')}\r\n`,
        )
        client.send(`${lines(json, 'Transfer-Encoding: chunked').join('\r\n')}\r\n\r\n${first}`)
        await nextTurn()
        return (await client.send(`${rest}0\r\n\r\n`).response()).status
      },
      'HTTP/2': async (cut) => {
        const [first, rest] = pieces(cut)
        const stream = session.request({
          ...{ ':method': 'POST', ':path': '/v1/chat', secretkey: secretKey },
          ...{ 'content-type': 'application/json; charset=utf-8' },
        })
        stream.write(first, () => stream.end(rest))
        const [headers] = (await once(stream, 'response')) as [Readonly<Record<string, unknown>>]
        stream.resume()
        await once(stream, 'end')
        return headers[':status']
      },
    }
    for (const [way, send] of Object.entries(ways))
      for (let cut = 1; cut < bytes.length; cut++) {
        const status = await send(cut)
        const { body, headers } = backend.last()
        const length = headers['content-length'] ?? body.length
        if (status !== 200 || body !== latin1(asked) || Number(length) !== body.length)
          t.fail(`${way}, cut at ${cut}: ${status}, ${length}: ${body}`)
      }
    t.equal(backend.seen.length, 3 * (bytes.length - 1))
  })

t.test('nothing is read of a body before its caller is admitted', async (t) => {
  const plans = { small: { quota: { limit: 1, per: 'day' } } }
  const { backend, gateway, lines } = await start(t, { config: { plans } })
  const { secretKey } = await gateway.createAccount({ plan: 'small' })
  const head = lines(json, 'Content-Length: 27', 'Expect: 100-continue')
  const ask = (key: string) => head.map((line) => (line.startsWith('SecretKey') ? `SecretKey: ${key}` : line))
  t.equal((await rawRequest(t, gateway.url, ask('gate_sk_wrong'))).status, 401)
  const client = await connectRaw(t, gateway.url)
  client.send(`${ask(secretKey).join('\r\n')}\r\n\r\n`)
  t.equal((await client.response()).status, 100, 'the gateway asks for the body itself')
  t.equal((await client.send(`${latin1(question)} `.slice(0, 27)).response()).status, 200)
  t.equal(backend.last().headers.expect, undefined)
  t.equal((await rawRequest(t, gateway.url, ask(secretKey))).status, 429)
  t.equal(backend.seen.length, 1)
})

t.test(
  'a request that is not one for a stream passes as it is, and so does one that must not change',
  async (t) => {
    const { backend, gateway, lines } = await start(t, { route: { trailers: 'pass' } })
    const send = async (body: string, ...more: readonly string[]) => {
      const { status } = await rawRequest(
        t,
        gateway.url,
        lines(...more, `Content-Length: ${body.length}`),
        body,
      )
      t.equal(status, 200)
      return backend.last().body
    }
    const stream = '{"stream":true}'
    for (const body of ['{"stream":false}', '{"stream":true', '[]', '{"stream":true,"stream":true}'])
      t.equal(await send(body, json), body)
    for (const line of [
      'Content-Digest: sha-256=:x:',
      'Digest: x',
      'Signature: a=:x:',
      'Content-Encoding: gzip',
    ])
      t.equal(await send(stream, json, line), stream, line)
    t.equal(await send(stream, 'Content-Type: text/plain'), stream)
    const chunks = `f\r\n${stream}\r\n0\r\nContent-Digest: sha-256=:x:\r\n\r\n`
    await rawRequest(
      t,
      gateway.url,
      lines(json, 'Transfer-Encoding: chunked', 'Trailer: Content-Digest'),
      chunks,
    )
    t.equal(backend.last().body, stream, 'a digest in the trailers')
    t.equal(backend.last().trailers['content-digest'], 'sha-256=:x:')
    await rawRequest(t, gateway.url, [...lines(json, 'Content-Length: 15')].with(0, 'PUT / HTTP/1.1'), stream)
    t.equal(backend.last().body, stream, 'PUT')
    await rawRequest(t, gateway.url, lines(json, 'Content-Length: 0'))
    t.equal(backend.last().body, '')
  },
)

const bodyOf = (bytes: number) => `{"stream":true,"a":"${'x'.repeat(bytes - 22)}"}`

t.test('a body is changed up to 10 MiB, and passes as it is beyond that, which the log says', async (t) => {
  const { backend, gateway, lines } = await start(t, { route: { maxBody: '64MiB' } })
  const reasons = () => gateway.logLines.filter((line) => line.includes('too large for includeUsage')).length
  const counted = (body: string) =>
    rawRequest(t, gateway.url, lines(json, `Content-Length: ${body.length}`), body)
  const chunked = (body: string) => {
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    return rawRequest(t, gateway.url, lines(json, 'Transfer-Encoding: chunked'), chunks)
  }
  let expected = 0
  for (const send of [counted, chunked])
    for (const bytes of [heldBytesMax, heldBytesMax + 1, 2 * heldBytesMax]) {
      const body = bodyOf(bytes)
      t.equal((await send(body)).status, 200)
      const isAsked = bytes === heldBytesMax
      const got = backend.last().body
      t.ok(got === (isAsked ? body.replace('{', '{"stream_options":{"include_usage":true},') : body))
      if (!isAsked) expected++
    }
  await until('the log says so', () => reasons() === expected || undefined)
})

t.test('maxBody is that of the body as it came', async (t) => {
  const { backend, gateway, lines } = await start(t, { route: { maxBody: '1KiB' } })
  for (const framing of ['counted', 'chunked'])
    for (const [bytes, status] of [
      [1_024, 200],
      [1_025, 413],
      [100_000, 413],
    ] as const) {
      const body = bodyOf(bytes)
      const sent =
        framing === 'counted'
          ? await rawRequest(t, gateway.url, lines(json, `Content-Length: ${bytes}`), body)
          : await rawRequest(
              t,
              gateway.url,
              lines(json, 'Transfer-Encoding: chunked'),
              `${bytes.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
            )
      t.equal(sent.status, status, `${framing}: ${bytes}`)
    }
  t.strictSame(
    backend.seen.map(({ body }) => body.length),
    [1_064, 1_064],
  )
})

t.test('a body that does not end reaches no backend, and the connection goes on after it', async (t) => {
  const { backend, gateway, lines } = await start(t)
  const leaving = await connectRaw(t, gateway.url)
  leaving.send(`${lines(json, 'Content-Length: 100').join('\r\n')}\r\n\r\n{"stream":true`)
  const broken = lines(json, 'Transfer-Encoding: chunked')
  t.equal((await rawRequest(t, gateway.url, broken, 'x\r\n')).status, 400)
  leaving.close()
  await until(
    'it is logged',
    () => gateway.logLines.some((line) => line.includes('"status":499')) || undefined,
  )
  t.equal(backend.seen.length, 0)
  const client = await connectRaw(t, gateway.url)
  for (let time = 0; time < 2; time++) {
    client.send(`${lines(json, 'Content-Length: 15').join('\r\n')}\r\n\r\n{"stream":true}`)
    t.equal((await client.response()).status, 200)
  }
  t.equal(backend.seen.length, 2)
})

t.test('a body that is held when the config changes goes to the backend of before', async (t) => {
  const { backend, gateway, lines } = await start(t)
  const client = await connectRaw(t, gateway.url)
  client.send(`${lines(json, 'Content-Length: 15', 'Expect: 100-continue').join('\r\n')}\r\n\r\n`)
  t.equal((await client.response()).status, 100)
  client.send('{"stream":')
  const upstreams = { backend: { targets: [{ url: backend.url }], connections: 7 } }
  t.match(await reloadWith(gateway, { upstreams }), taken)
  t.equal((await client.send('true}').response()).status, 200)
  t.match(backend.last().body, 'include_usage')
})

t.test('a backend that refuses at the head, or is gone, is heard at once', async (t) => {
  const refusal = 'HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
  const target = await startRawBackend(t, (socket) => {
    socket.once('data', () => socket.end(refusal))
  })
  const { gateway, lines } = await start(t, { upstream: { targets: [{ url: target }] } })
  const send = (body: string) =>
    rawRequest(t, gateway.url, lines(json, `Content-Length: ${body.length}`), body)
  for (const bytes of [100, 5_000_000]) t.equal((await send(bodyOf(bytes))).status, 413, `${bytes}`)
  const gone = await start(t, { upstream: { targets: [{ url: `http://127.0.0.1:${await freePort()}` }] } })
  const length = 'Content-Length: 15'
  const answer = await rawRequest(t, gone.gateway.url, gone.lines(json, length), '{"stream":true}')
  t.equal(answer.json().code, 'upstream-unreachable')
})
