import t from 'tap'
import { createCorsHeaders, everyOrigin, withGatewayCors } from '#gateway/arrival/cors.ts'
import { ordinaryResponseLines } from '#gateway/forward/ordinary-response.ts'
import { createOwnCookies } from '#gateway/forward/own-cookies.ts'
import { responseHeaderLines, withOwnLines } from '#gateway/forward/rewritten-response.ts'
import { compileCaching } from '#gateway/routes/response-fields.ts'
import { fieldsOf, MarkedLines, type MarkedText, readFieldLines } from '#http/message/field-lines.ts'
import { headBlock } from '#http/message/head-bytes.ts'
import { responseNames } from '#http/outgoing/response-head.ts'
import { createRandom } from '../../http/outgoing/random.ts'
import { usualCarriers } from '../../setup/carriers.ts'

const ownCookies = createOwnCookies({ names: ['refreshToken'] })
const accepted = { schemes: ['secretKey', 'bearer'], isOptional: false, leavesAuthorization: false } as const
const cachings = [
  undefined,
  compileCaching(accepted, usualCarriers, false),
  compileCaching(accepted, usualCarriers, true),
]
const cors = [
  undefined,
  createCorsHeaders('https://a.example'),
  createCorsHeaders(everyOrigin),
  createCorsHeaders(undefined),
]
const lines = [
  ...[
    'Content-Type: text/plain',
    'Content-Length: 2',
    'ETag: "1"',
    'Server: x',
    'X-A: 1',
    'x_b: 2',
    'X-Request-Id: theirs',
  ],
  ...[
    'Cache-Control: no-store',
    'Expires: 0',
    'Pragma: no-cache',
    'Vary: Accept',
    'Vary: Origin',
    'Vary: *',
    'vary:',
  ],
  ...[
    'Access-Control-Allow-Origin: *',
    'access-control-expose-headers: ETag',
    'Access_Control_Allow_Origin: *',
  ],
  ...['Connection: close', 'Connection: X-A', 'Keep-Alive: timeout=1', 'TE: trailers', 'Upgrade: h2c'],
  ...[
    'Set-Cookie: a=b',
    'Set-Cookie: refreshToken=x',
    'Location: /x',
    'Link: </a>; rel=next',
    'Access-Control: x',
  ],
]

function parse(text: string): MarkedText {
  const bytes = Buffer.from(text, 'latin1')
  const marked = new MarkedLines()
  headBlock.load(bytes)
  if (readFieldLines(0, responseNames, marked) !== bytes.length - 2) throw new Error('a malformed head')
  return { text, fieldsStart: 0, fieldsEnd: text.length - 2, marked }
}

t.test('random responses are written alike in slices and field by field', async (t) => {
  const seed = Number(process.env.SEED ?? 47)
  const random = createRandom(seed)
  const origins = { targetOrigin: 'http://10.0.0.11:3000', client: { protocol: 'https', host: 'a.example' } }
  const shared = { ...origins, requestId: 'r-1', clientPath: '/x', set: undefined, ownCookies }
  const ordinaryWith = cors.map(() => 0)
  for (let round = 0; round < 40_000; round++) {
    const sent = Array.from({ length: random.below(5) }, () => random.pick(lines)).concat('Date: now')
    const text = `${sent.join('\r\n')}\r\n\r\n`
    const isAuthenticated = random.below(2) === 1
    const status = random.pick([200, 204, 304, 404])
    const way = random.below(cors.length)
    const input = {
      status,
      mayHaveTrailers: false,
      caching: cachings[random.below(cachings.length)],
      isAuthenticated,
    }
    const ordinary = ordinaryResponseLines(parse(text), {
      ...input,
      corsHeaders: cors[way],
      isRewritten: false,
      terms: { ownCookies, portalScopes: undefined },
    })
    if (ordinary === undefined) continue
    ordinaryWith[way] = (ordinaryWith[way] ?? 0) + 1
    const received = fieldsOf(text, 0, text.length - 2)
    const headers = cors[way] === undefined ? received : withGatewayCors(status, received, cors[way])
    const general = { ...shared, ...input, headers, strippedPrefix: undefined, portalScopes: undefined }
    const written = withOwnLines(ordinary.text, ordinary.hasDate, status, 'r-1')
    if (written !== responseHeaderLines(general))
      t.fail(`seed ${seed}: ${JSON.stringify({ sent, ...input, way })}`)
  }
  for (const count of ordinaryWith) t.ok(count > 1_000, `${ordinaryWith} responses were ordinary ones`)
})
