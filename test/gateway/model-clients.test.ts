import type { ServerResponse } from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import { dayOf } from '#platform/time.ts'
import type { Answer } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { until } from '../setup/net.ts'

/** What a request asked for, in either form. */
interface Question {
  readonly stream?: boolean
  readonly stream_options?: { readonly include_usage?: boolean }
}

const words = ['Hello', ' there', '{"usage":{"output_tokens":0,"completion_tokens":0}}']

/** A server in the form of OpenAI: a stream says what it used only if it is asked to. */
const answerAsOpenAi: Answer = (_request, response, { body }) => {
  const question = JSON.parse(body) as Question
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
  const base = { id: 'chat-1', created: 1, model: 'm' }
  if (question.stream !== true) {
    const message = { role: 'assistant', content: words.join('') }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    sendJson(response, { ...base, object: 'chat.completion', choices, usage })
    return
  }
  const isAsked = question.stream_options?.include_usage === true
  const chunk = (choices: readonly object[], more: object) => ({
    ...{ ...base, object: 'chat.completion.chunk', choices },
    ...(isAsked && more),
  })
  const events = words.map((content) =>
    chunk([{ index: 0, delta: { role: 'assistant', content } }], { usage: null }),
  )
  events.push(chunk([{ index: 0, delta: {}, finish_reason: 'stop' }], { usage: null }))
  if (isAsked) events.push(chunk([], { usage }))
  sendEvents(response, [...events.map((data) => `data: ${JSON.stringify(data)}`), 'data: [DONE]'])
}

/** In the form of Anthropic: the first event says what came in, the last how much has gone out until then. */
const answerAsAnthropic: Answer = (_request, response, { body }) => {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null }
  const input = { input_tokens: 20, cache_creation_input_tokens: 8, cache_read_input_tokens: 100 }
  if ((JSON.parse(body) as Question).stream !== true) {
    const content = [{ type: 'text', text: words.join('') }]
    sendJson(response, {
      ...message,
      content,
      stop_reason: 'end_turn',
      usage: { ...input, output_tokens: 9 },
    })
    return
  }
  const deltas = words.map((text) => ({ index: 0, delta: { type: 'text_delta', text } }))
  const delta = { stop_reason: 'end_turn', stop_sequence: null }
  const events: readonly (readonly [type: string, data: object])[] = [
    ['message_start', { message: { ...message, content: [], usage: { ...input, output_tokens: 1 } } }],
    ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
    ['ping', {}],
    ...deltas.map((data) => ['content_block_delta', data] as const),
    ['content_block_stop', { index: 0 }],
    // They say all that has gone out so far, not what has since the last.
    ['message_delta', { delta: { stop_reason: null, stop_sequence: null }, usage: { output_tokens: 5 } }],
    ['message_delta', { delta, usage: { ...input, output_tokens: 9 } }],
    ['message_stop', {}],
  ]
  sendEvents(
    response,
    events.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}`),
  )
}

function sendJson(response: ServerResponse, value: object): void {
  response.setHeader('Content-Type', 'application/json')
  response.end(JSON.stringify(value))
}

function sendEvents(response: ServerResponse, events: readonly string[]): void {
  response.setHeader('Content-Type', 'text/event-stream')
  for (const event of events) response.write(`${event}\n\n`)
  response.end()
}

/** A gateway before a server of that form. @param route its options */
async function start(t: Test, answer: Answer, route: Readonly<Record<string, unknown>>) {
  const { backend, gateway } = await startBoth(t, {
    answer,
    config: {
      keys: { sealingKey: { file: 'sealing.key' }, accept: ['X-Api-Key', 'bearer'] },
      routes: [{ name: 'models', path: '/v1', upstream: 'backend', auth: 'any', ...route }],
    },
  })
  const { account, secretKey } = await gateway.createAccount()
  const today = dayOf(Date.now())
  /** Waits until so many units are counted. */
  const counted = async (units: number) => {
    const read = () =>
      gateway.operate(({ usage }) => usage.read(account.id, { from: today - 1, to: today + 1 }))
    await until(`${units} units are counted`, async () => {
      const sum = (await read()).reduce((total, each) => total + each.units, 0)
      return sum === units || undefined
    })
  }
  return { backend, gateway, secretKey, counted }
}

t.test("the OpenAI library's streams are counted, though it does not ask for their usage", async (t) => {
  const costField = { 'usage.prompt_tokens': 1, 'usage.completion_tokens': 3 }
  const { backend, gateway, secretKey, counted } = await start(t, answerAsOpenAi, {
    costField,
    includeUsage: true,
  })
  const { chat } = new OpenAI({ apiKey: secretKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const question = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello?' }] }

  t.match((await chat.completions.create(question)).usage, { total_tokens: 7 })
  t.equal((JSON.parse(backend.last().body) as Question).stream_options, undefined)
  const streamed = async (options?: OpenAI.ChatCompletionStreamOptions) => {
    const stream = await chat.completions.create({
      ...{ ...question, stream: true as const },
      ...(options && { stream_options: options }),
    })
    const chunks: OpenAI.ChatCompletionChunk[] = []
    for await (const each of stream) chunks.push(each)
    t.equal(chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join(''), words.join(''))
    return chunks.at(-1)
  }
  t.match(await streamed(), { choices: [], usage: { total_tokens: 7 } }, 'one more chunk, without choices')
  await streamed({ include_usage: false })
  await streamed({ include_usage: true })
  const runner = chat.completions.stream(question)
  t.match(await runner.finalChatCompletion(), { usage: { total_tokens: 7 } }, 'its helper takes the chunk')
  await counted(75)
})

t.test("the Anthropic library's messages are counted once, streamed or not", async (t) => {
  // As in docs/operators/limits-and-usage.md.
  const costField = {
    'message.usage.input_tokens | usage.input_tokens': 1,
    'message.usage.cache_creation_input_tokens | usage.cache_creation_input_tokens': 1.25,
    'message.usage.cache_read_input_tokens | usage.cache_read_input_tokens': 0.1,
    'message.usage.output_tokens | usage.output_tokens': 5,
  }
  const units = 20 + 8 * 1.25 + 100 * 0.1 + 9 * 5
  const { backend, gateway, secretKey, counted } = await start(t, answerAsAnthropic, {
    costField,
    includeUsage: true,
  })
  const { messages } = new Anthropic({ apiKey: secretKey, baseURL: gateway.url, maxRetries: 0 })
  const question = { model: 'm', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hello?' }] }

  t.match(await messages.create(question), { usage: { output_tokens: 9 } })
  const final = await messages.stream(question).finalMessage()
  t.match(final, { content: [{ text: words.join('') }], usage: { input_tokens: 20, output_tokens: 9 } })
  await counted(2 * units)
  t.equal(backend.seen.length, 2)
})
