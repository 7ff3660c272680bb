import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { ForeignVerdict } from '#identity/issuers/foreign-claims.ts'
import {
  answerBytesMax,
  answerMs,
  askingMax,
  createIntrospection,
  refusedMs,
  renewMs,
} from '#identity/issuers/introspection.ts'
import { until } from '../../setup/net.ts'
import { fileIssuer } from './file-issuers.ts'
import { startIntrospectionServer } from './introspection-server.ts'

const right = { sub: 'ada', aud: 'orders' }
const begin = Date.now()

async function open(t: Test, { answersMax = 1_000 } = {}) {
  const server = await startIntrospectionServer(t, { one: right, two: right })
  const time = { ms: 0 }
  const lines: string[] = []
  const outcomes: string[] = []
  const introspection = createIntrospection({
    issuer: fileIssuer(server.url, []),
    endpoint: server.endpoint,
    log: {
      info: (_: unknown, text?: string) => lines.push(`info ${text}`),
      error: (facts: unknown, text?: string) => lines.push(`error ${text} ${JSON.stringify(facts)}`),
    } as never,
    clockToleranceMs: 5_000,
    answersMax,
    clock: () => begin + time.ms,
    monotonic: () => time.ms,
    onAsked: (outcome) => outcomes.push(outcome),
  })
  /** The token is its own digest. */
  const verify = async (token: string): Promise<ForeignVerdict> => introspection.verify(token, token)
  const kindOf = async (token: string) => (await verify(token)).kind
  return { introspection, server, time, lines, outcomes, verify, kindOf }
}

/** A token that expires so many milliseconds after the start. */
const expiring = (ms: number) => ({ ...right, exp: (begin + ms) / 1_000 })

t.test('an answer holds for a minute, so a revoked token is refused by then', async (t) => {
  const { server, time, kindOf, introspection } = await open(t)
  t.equal(await kindOf('one'), 'valid')
  server.state.tokens.delete('one')
  time.ms = renewMs - 1
  t.equal(await kindOf('one'), 'valid')
  t.equal(server.seen.length, 1)
  t.equal(introspection.isUnknown('one'), false)
  time.ms = answerMs
  t.equal(introspection.isUnknown('one'), false, 'it was active, so it is no guess')
  t.match(await introspection.verify('one', 'one'), { kind: 'invalid', isCounted: undefined })
})

t.test(
  'an answer is renewed in the background in its last third, and with it a revocation comes',
  async (t) => {
    const { server, time, kindOf } = await open(t)
    await kindOf('one')
    time.ms = renewMs
    t.equal(await kindOf('one'), 'valid', 'nobody waits')
    await until('it is asked about', async () => server.seen.length === 2 || undefined)
    await until('it has answered', async () => {
      time.ms = answerMs
      return (await kindOf('one')) === 'valid' || undefined
    })
    t.equal(server.seen.length, 2, 'the second answer holds now')
    server.state.tokens.delete('one')
    time.ms = renewMs + renewMs
    t.equal(await kindOf('one'), 'valid')
    await until('the revocation has come', async () => (await kindOf('one')) === 'invalid' || undefined)
    t.equal(server.seen.length, 3)
  },
)

t.test('an answer holds no longer than until exp, when the issuer is asked again', async (t) => {
  const { server, time, verify, kindOf } = await open(t)
  server.state.tokens.set('short', expiring(2_000))
  t.match(await verify('short'), { kind: 'valid', claims: { validUntil: begin + 2_000 } })
  time.ms = 1_999
  t.equal(await kindOf('short'), 'valid')
  t.equal(server.seen.length, 1)
  time.ms = 2_000
  server.state.tokens.set('short', expiring(4_000))
  t.match(await verify('short'), { kind: 'valid', claims: { validUntil: begin + 4_000 } }, 'extended')
  time.ms = 4_000
  server.state.tokens.delete('short')
  t.equal(await kindOf('short'), 'expired')
  t.equal(server.seen.length, 3)
  t.match(await verify('one'), { claims: { validUntil: begin + 4_000 + answerMs } }, 'without exp')
})

t.test('an active token that is for somebody else is no guess', async (t) => {
  const { server, introspection } = await open(t)
  server.state.tokens.set('other', { ...right, aud: 'others' })
  t.match(await introspection.verify('other', 'other'), { kind: 'invalid', isCounted: undefined })
})

t.test('a token that is not active is asked about once in ten seconds, and counted once', async (t) => {
  const { server, time, introspection, kindOf } = await open(t)
  const [first, ...others] = await Promise.all(
    Array.from({ length: 30 }, () => introspection.verify('none', 'none')),
  )
  t.match(first, { kind: 'invalid', isCounted: true })
  for (const each of others) t.match(each, { kind: 'invalid', isCounted: false })
  t.equal(server.seen.length, 1)
  time.ms = refusedMs - 1
  t.match(introspection.verify('none', 'none'), { kind: 'invalid', isCounted: undefined })
  time.ms = refusedMs
  t.equal(introspection.isUnknown('none'), true)
  t.equal(await kindOf('none'), 'invalid')
  t.equal(server.seen.length, 2)
})

t.test('simultaneous questions about one token are one', async (t) => {
  const { server, introspection } = await open(t)
  const asked = Array.from({ length: 200 }, () => introspection.verify('one', 'one'))
  t.equal(introspection.isUnknown('one'), false, 'waiting for it costs nothing')
  for (const verdict of await Promise.all(asked)) t.equal(verdict.kind, 'valid')
  t.equal(server.seen.length, 1)
})

t.test(`no more than ${askingMax} questions are under way at a time`, async (t) => {
  const { server, introspection, kindOf } = await open(t)
  const waiting: (() => void)[] = []
  server.state.answer = (_, response) =>
    waiting.push(() => response.setHeader('Content-Type', 'application/json').end('{"active":false}'))
  const verdicts = Array.from({ length: askingMax }, (_, index) => kindOf(`token-${index}`))
  for (let count = 0; count < 100; count++)
    t.match(introspection.verify(`over-${count}`, `over-${count}`), { kind: 'undecided' })
  t.equal(await Promise.race([verdicts[0], setImmediate('waits')]), 'waits')
  await until('all are asked', async () => waiting.length === askingMax || undefined)
  for (const answer of waiting) answer()
  t.strictSame(new Set(await Promise.all(verdicts)), new Set(['invalid']))
  server.state.answer = undefined
  t.equal(await kindOf('two'), 'valid')
})

t.test('in an outage answers hold until their end, and what has none is undecided', async (t) => {
  const { server, time, lines, kindOf, introspection } = await open(t)
  await kindOf('one')
  server.state.answer = (_, response) => response.destroy()
  t.equal(await kindOf('two'), 'undecided')
  t.equal(introspection.isUp(), false)
  time.ms = 499
  const before = server.seen.length
  t.equal(await kindOf('two'), 'undecided')
  t.equal(server.seen.length, before, 'not asked again at once')
  time.ms = renewMs
  t.equal(await kindOf('one'), 'valid')
  await until('its renewal has failed', async () => server.seen.length > before || undefined)
  time.ms = answerMs - 1
  await until('it is asked again, once the failure has arrived', async () => {
    t.equal(await kindOf('one'), 'valid')
    return server.seen.length > before + 1 || undefined
  })
  time.ms = answerMs
  t.equal(await kindOf('one'), 'undecided')
  t.equal(lines.length, 1, 'one line for the outage')
  t.match(lines[0], /^error introspection fails.*introspect/)
  t.notMatch(lines.join(), 'client-secret')
  server.state.answer = undefined
  time.ms += 500
  t.equal(await kindOf('one'), 'valid')
  t.equal(await kindOf('two'), 'valid')
  t.match(lines[1], /^info the issuer answers/)
  t.equal(introspection.isUp(), true)
})

t.test('an answer that is none is an outage, never a refusal', async (t) => {
  const { server, time, kindOf, outcomes } = await open(t)
  const json = (text: string, status = 200) => ({ status, text, type: 'application/json' })
  const long = (bytes: number) => json(`{"active":false,"x":"${'x'.repeat(bytes - 23)}"}`)
  for (const [{ status, text, type }, kind] of [
    [json('{"active":true}', 401), 'undecided'],
    [json('{"active":true,"sub":"ada","aud":"orders"}', 302), 'undecided'],
    [json('{"active":false}', 400), 'undecided'],
    [json('{"active":true}', 500), 'undecided'],
    [{ ...json('<html>sign in</html>'), type: 'text/html' }, 'undecided'],
    [json(''), 'undecided'],
    [json('null'), 'undecided'],
    [json('[]'), 'undecided'],
    [json('{}'), 'undecided'],
    [json('{"active":"true","sub":"ada","aud":"orders"}'), 'undecided'],
    [json('{"active":1,"sub":"ada","aud":"orders"}'), 'undecided'],
    [json(`${'['.repeat(20_000)}`), 'undecided'],
    [long(answerBytesMax), 'invalid'],
    [long(answerBytesMax + 1), 'undecided'],
    [long(10 * answerBytesMax), 'undecided'],
    [json('{"active":true,"__proto__":{"sub":"ada","aud":"orders"}}'), 'invalid'],
    [json('{"active":true,"failure":"x","sub":"ada","aud":"orders"}'), 'valid'],
  ] as const) {
    time.ms += refusedMs
    server.state.answer = (_, response) =>
      response.writeHead(status, { 'Content-Type': type, Location: '/elsewhere' }).end(text)
    const token = `token-${time.ms}`
    t.equal(await kindOf(token), kind, `${status} ${text.slice(0, 60)}`)
    t.ok(
      server.seen.every(({ url }) => url === '/introspect'),
      'no redirect is followed',
    )
  }
  t.equal(outcomes.filter((outcome) => outcome === 'failed').length, 14)
})

t.test('answers are kept within their number and their bytes', async (t) => {
  const { server, kindOf, introspection } = await open(t, { answersMax: 10 })
  const scope = Array.from({ length: 100 }, (_, index) => `scope-${index}-${'x'.repeat(100)}`).join(' ')
  server.state.tokens.set('large', { ...right, scope })
  for (let index = 0; index < 12; index++) server.state.tokens.set(`small-${index}`, right)
  t.equal(await kindOf('large'), 'valid')
  t.equal(introspection.isActive('large'), false, 'larger than all that may be kept')
  for (let index = 0; index < 12; index++) t.equal(await kindOf(`small-${index}`), 'valid')
  const kept = Array.from({ length: 12 }, (_, index) => introspection.isActive(`small-${index}`))
  t.equal(kept.filter(Boolean).length, 10)
  t.equal(introspection.isActive('small-11'), true)
})
