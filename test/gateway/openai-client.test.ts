import OpenAI, { APIError } from 'openai'
import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { tamper } from '../setup/tamper.ts'
import { importKey } from './support/further-keys.ts'

const chunk = (content: string) => ({
  id: 'chat-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
})

const completion = {
  id: 'chat-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
}

/** A gateway before a backend that speaks the format of the library, and says what each answer has cost. */
async function start(t: Test, ofRoute: Readonly<Record<string, string>> = {}) {
  const { backend, gateway } = await startBoth(t, {
    answer: (_request, response, { body }) => {
      response.setHeader('X-Cost', '7')
      if ((JSON.parse(body) as { readonly stream?: boolean }).stream !== true) {
        response.setHeader('Content-Type', 'application/json')
        response.end(JSON.stringify(completion))
        return
      }
      response.setHeader('Content-Type', 'text/event-stream')
      for (const word of ['Hello', ' ', 'there']) response.write(`data: ${JSON.stringify(chunk(word))}\n\n`)
      response.end('data: [DONE]\n\n')
    },
    config: {
      keys: { sealingKey: { file: 'sealing.key' }, accept: ['SecretKey', 'bearer'] },
      plans: { trial: { quota: { limit: 2, per: 'month' } } },
      routes: [
        {
          name: 'models',
          path: '/v1',
          upstream: 'backend',
          auth: 'any',
          costHeader: 'X-Cost',
          ...ofRoute,
        },
      ],
    },
  })
  const client = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  return { backend, gateway, client }
}

const question = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello?' }] }

t.test('the OpenAI library asks and streams with a secret key, an imported key or a token', async (t) => {
  const { backend, gateway, client } = await start(t)
  const created = await gateway.createAccount()
  const { account, secretKey } = created
  await importKey(gateway, account.id, 'sk-proj-made-elsewhere')
  const { JwtToken } = await gateway.tokens(created)
  for (const apiKey of [secretKey, 'sk-proj-made-elsewhere', JwtToken]) {
    const { chat } = client(apiKey)
    const answer = await chat.completions.create(question)
    t.equal(answer.choices[0]?.message.content, 'Hello there')
    const { headers } = backend.last()
    t.equal(headers['x-user-id'], account.id)
    t.notOk('authorization' in headers, 'the backend does not see the key')
    let streamed = ''
    for await (const part of await chat.completions.create({ ...question, stream: true }))
      streamed += part.choices[0]?.delta.content ?? ''
    t.equal(streamed, 'Hello there')
  }
})

t.test('the OpenAI library reports what the gateway refuses, with its reason', async (t) => {
  const { gateway, client } = await start(t)
  const { account, secretKey } = await gateway.createAccount({ plan: 'trial' })
  const refusalOf = async (apiKey: string) => {
    const error: unknown = await client(apiKey)
      .chat.completions.create(question)
      .catch((reason: unknown) => reason)
    if (!(error instanceof APIError)) throw new Error('it was not refused')
    return error
  }
  t.match(await refusalOf('sk-proj-of-nobody'), { status: 401, message: /401/ })
  t.match(await refusalOf(tamper(secretKey)), { status: 401 })
  for (let count = 0; count < 2; count++) await client(secretKey).chat.completions.create(question)
  const error = await refusalOf(secretKey)
  t.equal(error.status, 429)
  t.ok(Number(error.headers?.get('retry-after')) > 0)
  t.equal(error.headers?.get('x-cost'), null)
  await gateway.operate(({ accounts }) => accounts.update(account.id, { plan: undefined }))
})

t.test(
  'the OpenAI library keeps the provider’s key in Authorization, beside that of the gateway in a header',
  async (t) => {
    const { backend, gateway } = await start(t, { authorization: 'backend' })
    const { account, secretKey } = await gateway.createAccount()
    const client = (apiKey: string, key: string) =>
      new OpenAI({
        apiKey,
        baseURL: `${gateway.url}/v1`,
        maxRetries: 0,
        defaultHeaders: { SecretKey: key },
      })
    const answer = await client('sk-proj-of-the-provider', secretKey).chat.completions.create(question)
    t.equal(answer.choices[0]?.message.content, 'Hello there')
    t.match(backend.last().headers, {
      authorization: 'Bearer sk-proj-of-the-provider',
      'x-user-id': account.id,
    })
    t.notOk('secretkey' in backend.last().headers)
    const both = client(secretKey, secretKey).chat.completions.create(question)
    await t.rejects(both, { status: 400, message: /400/ })
    t.equal(backend.seen.length, 1)
  },
)
