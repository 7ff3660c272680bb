import t from 'tap'
import { bodyCostReaderFor, createBodyCost } from '#gateway/forward/response-cost.ts'
import type { CostTerm } from '#gateway/routes/route.ts'

const total: readonly CostTerm[] = [{ paths: ['usage.total_tokens'], factor: 1 }]
const weighted: readonly CostTerm[] = [
  { paths: ['usage.input_tokens', 'message.usage.input_tokens'], factor: 1 },
  { paths: ['usage.output_tokens'], factor: 3 },
]
const json = ['Content-Type', 'application/json; charset=utf-8']
const events = ['content-type', 'text/event-stream']

function unitsOf(body: string | Buffer, headers = json, terms = total, partBytes = Number.POSITIVE_INFINITY) {
  const reader = bodyCostReaderFor(createBodyCost(terms), headers)
  const bytes = Buffer.from(body)
  for (let at = 0; at < bytes.length; at += partBytes) reader?.read(bytes.subarray(at, at + partBytes))
  return reader?.units
}

const bodies: readonly (readonly [what: string, body: string, units: number | undefined])[] = [
  ['a number', '{"usage":{"total_tokens":7}}', 7],
  ['white space', ' {\n "usage" :\t{ "total_tokens" : 7 \r\n} } ', 7],
  ['a byte order mark', '\uFEFF{"usage":{"total_tokens":7}}', 7],
  ['a fraction, rounded up', '{"usage":{"total_tokens":6.2}}', 7],
  ['an exponent', '{"usage":{"total_tokens":7E+1}}', 70],
  ['more than can be counted', '{"usage":{"total_tokens":1e300}}', 1_000_000_000],
  ['a name with escapes', '{"\\u0075sage":{"total\\u005ftokens":7}}', 7],
  ['names of all kinds before', '{"é\\"":1,"":[],"usage":{"\\\\":{},"total_tokens":7}}', 7],
  ['the last of two', '{"usage":{"total_tokens":1},"usage":{"total_tokens":7}}', 7],
  ['documents on lines', '{"usage":{"total_tokens":1}}\n{"usage":{"total_tokens":7}}\n{"a":1}', 7],
  ['documents in an array', '[{"usage":{"total_tokens":1}},{"usage":{"total_tokens":7}}]', 7],
  ['forged in a text', '{"text":"\\"usage\\":{\\"total_tokens\\":1}}","usage":{"total_tokens":7}}', 7],
  [
    'forged after an escaped backslash',
    '{"text":"\\\\","t":"{\\"usage\\":{\\"total_tokens\\":1}}"}',
    undefined,
  ],
  ['forged in a document that is a text', '"{\\"usage\\":{\\"total_tokens\\":1}}"', undefined],
  ['forged deeper', '{"usage":{"total_tokens":7},"x":{"usage":{"total_tokens":1}}}', 7],
  ['forged in an array', '{"usage":{"total_tokens":7},"x":[{"usage":{"total_tokens":1}}]}', 7],
  ['forged by a dotted name', '{"usage.total_tokens":1}', undefined],
  ['a negative number', '{"usage":{"total_tokens":-7}}', undefined],
  ['a text', '{"usage":{"total_tokens":"7"}}', undefined],
  ['null', '{"usage":null}', undefined],
  ['null after a number', '{"usage":{"total_tokens":7}}{"usage":{"total_tokens":null}}', 7],
  ['an array', '{"usage":{"total_tokens":[7]}}', undefined],
  ['infinity', `{"usage":{"total_tokens":${'9'.repeat(400)}}}`, undefined],
  ['a hexadecimal number', '{"usage":{"total_tokens":0x7}}', undefined],
  ['a name that goes on', `{"usage${'x'.repeat(100_000)}":{"total_tokens":1}}`, undefined],
  ['nesting', `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)},"usage":{"total_tokens":7}}`, 7],
  ['nothing', '', undefined],
  ['a cut number', '{"usage":{"total_tokens":7', undefined],
]

t.test('a JSON body says its cost, however it is cut, and nobody can forge it', async (t) => {
  for (const [what, body, units] of bodies)
    for (const partBytes of [Number.POSITIVE_INFINITY, 1, 2, 3, 7])
      t.equal(unitsOf(body, json, total, partBytes), units, `${what}, ${partBytes} bytes at a time`)
})

t.test('of a stream of events the last that has the field counts, however it is cut', async (t) => {
  const lines = [
    ': {"usage":{"total_tokens":1}}',
    'id: data:{"usage":{"total_tokens":1}}',
    'data: {"choices":[{"delta":{"content":"data: {\\"usage\\":{\\"total_tokens\\":1}}"}}],"usage":null}',
    '',
    'event: usage',
    'data:{"usage":{"total_tokens":6}}',
    '',
    'data: {"usage":{',
    'data: "total_tokens":7',
    'data: }}',
    '',
    'data: {"broken":"',
    '',
    'data: [DONE]',
    '',
    '',
  ]
  for (const lineEnd of ['\n', '\r\n', '\r'])
    for (const partBytes of [Number.POSITIVE_INFINITY, 1, 2, 3, 7])
      t.equal(unitsOf(lines.join(lineEnd), events, total, partBytes), 7)
})

t.test('several fields add up by their factors, each with its last number', async (t) => {
  t.equal(unitsOf('{"usage":{"input_tokens":10,"output_tokens":5}}', json, weighted), 25)
  const stream = [
    'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":10,"output_tokens":1}}}\n\n',
    'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":2}}\n\n',
    'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":5}}\n\n',
  ]
  for (let end = 0; end <= stream.join('').length; end++) {
    const units = unitsOf(stream.join('').slice(0, end), events, weighted)
    t.ok(units === undefined || units === 10 || units === 16 || units === 25, `cut at ${end}: ${units}`)
  }
  t.equal(unitsOf(stream.join(''), events, weighted), 25)
  t.equal(unitsOf('{"a":3}', json, [{ paths: ['a'], factor: 0.1 }]), 1)
  t.equal(unitsOf('{"a":30}', json, [{ paths: ['a'], factor: 0.1 }]), 3)
})

t.test('only JSON and streams of events that are not compressed are read', async (t) => {
  const body = '{"usage":{"total_tokens":7}}'
  for (const type of [
    'application/json',
    'Application/Problem+JSON',
    'application/x-ndjson',
    'application/jsonl',
  ])
    t.equal(unitsOf(body, ['Content-Type', type]), 7, type)
  for (const type of ['text/plain', 'text/html', 'application/octet-stream', ''])
    t.equal(unitsOf(body, ['Content-Type', type]), undefined, type)
  t.equal(unitsOf(body, []), undefined)
  t.equal(unitsOf(body, [...json, 'Content-Encoding', 'identity']), 7)
  t.equal(unitsOf(body, [...json, 'content-encoding', 'gzip']), undefined)
})
