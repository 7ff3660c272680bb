import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:http2'
import { gzipSync } from 'node:zlib'
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import { dayOf } from '#platform/time.ts'
import { startBoth } from '../setup/both.ts'
import { type StoreDriver, storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
const chunk = (content: string) => ({
  id: 'chat-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
  usage: null,
})
const completion = {
  ...chunk(''),
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage,
}
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const forged = chunk('{"usage":{"prompt_tokens":0,"completion_tokens":0}}')

const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  json: (response) => void response.end(JSON.stringify(completion)),
  stream: (response) => {
    response.setHeader('Content-Type', 'text/event-stream')
    for (const data of [forged, { ...chunk(''), choices: [], usage }]) response.write(event(data))
    response.end('data: [DONE]\n\n')
  },
  // In Anthropic's form: what came in is in the first event, what went out in the last.
  messages: (response) => {
    response.setHeader('Content-Type', 'text/event-stream')
    const message = { usage: { input_tokens: 3, output_tokens: 1 } }
    response.write(`event: message_start\n${event({ type: 'message_start', message })}`)
    response.end(`event: message_delta\n${event({ type: 'message_delta', usage: { output_tokens: 4 } })}`)
  },
  silent: (response) => void response.end('{}'),
  header: (response) => {
    response.setHeader('X-Cost', '5')
    response.end(JSON.stringify(completion))
  },
  compressed: (response) => {
    response.setHeader('Content-Encoding', 'gzip')
    response.end(gzipSync(JSON.stringify(completion)))
  },
  cut: (response) => {
    response.setHeader('Content-Type', 'text/event-stream')
    response.write(event({ usage }), () => response.destroy())
  },
  left: (response) => {
    response.setHeader('Content-Type', 'text/event-stream')
    response.write(event({ usage }))
  },
}

async function start(t: Test, driver: StoreDriver) {
  const costField = {
    'usage.prompt_tokens | usage.input_tokens | message.usage.input_tokens': 1,
    'usage.completion_tokens | usage.output_tokens': 3,
  }
  const { backend, gateway } = await startBoth(t, {
    driver,
    answer: (request, response) => {
      response.setHeader('Content-Type', 'application/json')
      const [, name = ''] = request.url?.split('/') ?? []
      answers[name]?.(response)
    },
    config: {
      keys: { sealingKey: { file: 'sealing.key' }, accept: ['SecretKey', 'bearer'] },
      routes: Object.keys(answers).map((name) => ({
        ...{ name, path: `/${name}`, upstream: 'backend', auth: 'any', costHeader: 'X-Cost', costField },
      })),
    },
  })
  const { account, secretKey } = await gateway.createAccount()
  const today = dayOf(Date.now())
  const readUsed = () =>
    gateway.operate(async ({ usage: counts }) => {
      const found = await counts.read(account.id, { from: today - 1, to: today + 1 })
      return Object.fromEntries(found.map(({ route, requests, units }) => [route, [requests, units]]))
    })
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${gateway.url}/${path}`, { ...init, headers: { SecretKey: secretKey } })
  return { backend, gateway, secretKey, readUsed, call }
}

for (const driver of storeDrivers)
  t.test(`units come from the bodies of answers, on ${driver}`, async (t) => {
    const { backend, gateway, secretKey, readUsed, call } = await start(t, driver)
    const chatOf = (name: string) =>
      new OpenAI({ apiKey: secretKey, baseURL: `${gateway.url}/${name}`, maxRetries: 0 }).chat.completions
    const question = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello?' }] }

    const answer = await chatOf('json').create(question)
    t.match(answer.usage, usage)
    t.equal(backend.last().headers['accept-encoding'], 'identity')

    const seen: unknown[] = []
    for await (const part of await chatOf('stream').create({ ...question, stream: true }))
      seen.push(part.usage)
    t.match(seen, [null, usage], 'every event arrives as it was sent')

    await (await call('messages')).text()
    t.equal(await (await call('silent')).text(), '{}')
    t.equal((await call('header')).headers.get('x-cost'), null)
    t.match(await (await call('compressed')).json(), { usage })

    await t.rejects((await call('cut')).text())
    const leaving = new AbortController()
    const left = await call('left', { signal: leaving.signal })
    await left.body?.getReader().read()
    leaving.abort()

    const session = connect(gateway.url)
    t.teardown(() => session.destroy())
    const stream = session.request({ ':path': '/messages', secretkey: secretKey })
    stream.resume()
    await once(stream, 'end')

    const expected = {
      json: [1, 15],
      stream: [1, 15],
      messages: [2, 30],
      silent: [1, 1],
      header: [1, 5],
      compressed: [1, 1],
      cut: [1, 15],
      left: [1, 15],
    }
    const unitsOf = (counts: object) => Object.values(counts).reduce((sum, [, units]) => sum + units, 0)
    await until('all are counted', async () => unitsOf(await readUsed()) >= unitsOf(expected) || undefined)
    t.strictSame(await readUsed(), expected)
  })
