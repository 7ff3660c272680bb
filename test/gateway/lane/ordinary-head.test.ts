import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import type { ClientClaims } from '#gateway/arrival/client.ts'
import { createFieldReader } from '#gateway/arrival/request-fields.ts'
import { secondTargetFields } from '#gateway/arrival/second-target-fields.ts'
import { framingLine } from '#gateway/forward/connection-lines.ts'
import { createHeaderRules, identityNames } from '#gateway/forward/header-rules.ts'
import { createIdentityWriter } from '#gateway/forward/identity-headers.ts'
import { createOwnCookies } from '#gateway/forward/own-cookies.ts'
import { createRequestWriter } from '#gateway/forward/upstream-head.ts'
import { createOrdinaryHeadReader } from '#gateway/lane/ordinary-head.ts'
import { onlyValueOf } from '#http/request-head.ts'
import { DecodedHead, type MarkedHead, type ParsedHead } from '#http/server/marked-head.ts'
import { RequestParser } from '#http/server/request-parser.ts'
import { createCarriers } from '#identity/carriers.ts'
import { createRandom } from '../../http/outgoing/random.ts'
import { identityHeaders, inputOf } from '../forward/heads.ts'

const carriers = createCarriers(['SecretKey', 'X-Api-Key', 'bearer'])
const rules = createHeaderRules(['X-User-Id', 'X-User-Role', 'X-Caller'], carriers)
const ownCookies = createOwnCookies({ names: ['refreshToken'] })
const readHead = createOrdinaryHeadReader({ carriers, ownCookies })
const read = (head: MarkedHead, isTrusted = false) => readHead(head, isTrusted)
const writeIdentity = createIdentityWriter(identityHeaders)
const writer = createRequestWriter({ rules, writeIdentity, assertion: undefined, ownCookies })
const fieldReader = createFieldReader(carriers)
const markReader = createFieldReader(carriers, rules.names)

function parse(lines: readonly string[]): ParsedHead {
  const parser = new RequestParser({ headBytesMax: 16_384, names: () => rules.names })
  const head = parser.feed(Buffer.from(`GET / HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1'))
  if (!head) throw new Error('an incomplete head')
  return head
}

/** undefined = its framing is malformed. */
function parseAny(lines: readonly string[]): ParsedHead | undefined {
  try {
    return parse(lines)
  } catch {
    return undefined
  }
}

/** What the plain writer makes of the fields of a client, or of a trusted proxy. */
function writtenPlainly({ rawHeaders, body }: ParsedHead, isTrusted = false): string {
  const { connectionOptions } = fieldReader.read({ rawHeaders }).uncommon
  const input = inputOf(rawHeaders)
  const client = { ...input.client, isTrusted }
  const lines = writer.writeHead({ ...input, client, body, connectionOptions })
  return lines.slice(0, lines.lastIndexOf('X-Forwarded-Proto: https'))
}

/** What is forwarded of the fields of a client; undefined = the head is not an ordinary one. */
function writtenAtOnce(head: MarkedHead, isTrusted = false): string | undefined {
  const lines = read(head, isTrusted)?.lines
  return lines === undefined ? undefined : lines + framingLine(head.body)
}

/** The same head, as HTTP/2 would deliver it. */
function decoded(head: ParsedHead): MarkedHead {
  return new DecodedHead(head, head, head.names, head.rawHeaders)
}

/** What a head says about its client. */
function reportAtOnce(head: MarkedHead) {
  const fields = readHead(head, true)
  return { ...reported(fields), origin: fields?.origin }
}

function reportOf({ rawHeaders }: ParsedHead) {
  return { ...reported(fieldReader.read({ rawHeaders }).uncommon), origin: onlyValueOf(rawHeaders, 'origin') }
}

function reported(fields: (ClientClaims & { readonly requestId: string | undefined }) | undefined) {
  const { forwardedFor, forwardedProto, forwardedHost, requestId } = fields ?? {}
  return { forwardedFor, forwardedProto, forwardedHost, requestId }
}

const ordinary = ['Host: x.example', 'User-Agent: test', 'Accept: */*', 'X-A: 1', 'Cookie: a=b; c=d']

const spellings = (name: string) => [
  name,
  name.toLowerCase(),
  name.toUpperCase(),
  name.replaceAll('-', '_'),
  name.replaceAll('-', '.'),
  name.replaceAll('-', ''),
  `${name}-`,
  `X${name}`,
]
const special = [
  ...identityNames,
  ...['X-Caller', 'SecretKey', 'X-Api-Key', 'Authorization', 'Proxy-Authorization', 'Proxy'],
  ...['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Forwarded-Prefix', 'X-Forwarded-Any'],
  ...['Forwarded', 'X-Real-IP', 'X-Original-URL', 'X-Rewrite-URL', 'X-Request-Id', 'traceparent'],
  ...['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', 'Destination', 'New-URI', 'If'],
  ...[
    'Connection',
    'Keep-Alive',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
    'Host',
    'Cookie',
    'Origin',
  ],
]
const values = [
  'x',
  'close',
  'keep-alive',
  'Bearer x',
  'Basic eDp5',
  'refreshToken=1',
  '',
  ' x',
  'x\t',
  '\xe9',
]

t.test('an ordinary head is forwarded as the plain writer does, in the order of its fields', async (t) => {
  const head = parse([...ordinary, 'SecretKey: k', 'X-Request-Id: 1', 'X-Forwarded-For: 192.0.2.1', 'X-B: 2'])
  t.equal(
    writtenAtOnce(head),
    'User-Agent: test\r\nAccept: */*\r\nX-A: 1\r\nCookie: a=b; c=d\r\nX-B: 2\r\n',
    'and nothing else',
  )
  t.equal(writtenAtOnce(head), writtenPlainly(head))
  t.equal(read(head)?.host.sent, 'x.example')
  t.equal(read(head)?.carrier, 'SecretKey')
})

t.test('whatever field comes at whatever place, nothing goes on that the plain writer drops', async (t) => {
  let atOnce = 0
  const lines = special.flatMap(spellings).flatMap((name) => values.map((value) => `${name}: ${value}`))
  for (const line of lines)
    for (let place = 0; place <= ordinary.length; place++)
      for (const isTrusted of [false, true]) {
        const head = parse(ordinary.toSpliced(place, 0, line))
        const written = writtenAtOnce(head, isTrusted)
        if (written === undefined) continue
        atOnce++
        if (written !== writtenPlainly(head, isTrusted)) t.fail(`${line} at ${place}, ${isTrusted}`)
      }
  t.ok(atOnce > 20_000, `${atOnce} heads were ordinary ones`)
})

t.test('random heads of such fields are forwarded alike, or left to the plain writer', async (t) => {
  const seed = Number(process.env.SEED ?? 47)
  const random = createRandom(seed)
  const lines = [...ordinary, ...special.flatMap((name) => values.map((value) => `${name}: ${value}`))]
  let atOnce = 0
  for (let round = 0; round < 20_000; round++) {
    const head = parse(
      Array.from({ length: 1 + random.below(8) }, () => random.pick(lines)).concat('Host: y'),
    )
    const isTrusted = random.below(2) === 1
    const written = writtenAtOnce(head, isTrusted)
    if (written === undefined) continue
    atOnce++
    if (written !== writtenPlainly(head, isTrusted)) t.fail(`seed ${seed}, ${isTrusted}: ${head.text}`)
    if (!isDeepStrictEqual(reportAtOnce(head), reportOf(head))) t.fail(`seed ${seed}: ${head.text}`)
    if (writtenAtOnce(decoded(head), isTrusted) !== written) t.fail(`seed ${seed}, decoded: ${head.text}`)
    if (!isDeepStrictEqual(reportAtOnce(decoded(head)), reportOf(head))) t.fail(`seed ${seed}: ${head.text}`)
  }
  t.ok(atOnce > 200, `${atOnce} of 20,000 were ordinary ones`)
})

t.test(
  'the fields that decisions need are the same by the marks of a head as by all of its fields',
  async (t) => {
    const seed = Number(process.env.SEED ?? 47)
    const random = createRandom(seed)
    const names = [...special, ...secondTargetFields.keys(), 'Service-Worker', 'X-A'].flatMap(spellings)
    for (let round = 0; round < 20_000; round++) {
      const lines = Array.from(
        { length: random.below(8) },
        () => `${random.pick(names)}: ${random.pick(values)}`,
      )
      const head = parseAny(lines)
      if (head === undefined) continue
      const { rawHeaders } = head
      if (!isDeepStrictEqual(markReader.read(head), fieldReader.read({ rawHeaders })))
        t.fail(`seed ${seed}: ${head.text}`)
    }
  },
)

t.test('every field that names a second target is read as one', async (t) => {
  for (const { name } of secondTargetFields.values()) {
    const head = parse([`${name}: /a`])
    const expected = new Map([[name.toLowerCase(), '/a']])
    t.strictSame(markReader.read(head).uncommon.secondTargets, expected, `${name}, by its mark`)
    t.strictSame(fieldReader.read({ rawHeaders: head.rawHeaders }).uncommon.secondTargets, expected, name)
  }
})

t.test('what could be read in two ways is left to the plain writer', async (t) => {
  for (const lines of [
    ['SecretKey: a', 'SecretKey: b'],
    ['SecretKey: a', 'X-Api-Key: b'],
    ['SecretKey: a', 'Authorization: Bearer b'],
    ['Authorization: Bearer a', 'Authorization: Bearer b'],
    ['Authorization: bearer a'],
    ['Authorization: Basic eDp5'],
    ['Authorization: NTLM TlRM'],
    ['SecretKey:'],
    ['Host: y.example'],
    ['Connection: close, X-A'],
    ['Connection: TE', 'TE: trailers'],
    ['Cookie: refreshToken=1'],
    ['Cookie: refresh%54oken=1'],
    ['X-A:1'],
    ['X-A: 1 '],
  ])
    t.equal(read(parse([...ordinary, ...lines])), undefined, lines.join(' | '))
  t.equal(read(parse(['X-A: 1'])), undefined, 'no Host')
})
