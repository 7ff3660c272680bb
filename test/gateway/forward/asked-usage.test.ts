import t from 'tap'
import { fixesBody, mayAskForStream, withUsageAsked } from '#gateway/forward/asked-usage.ts'
import { jsonDepthMax } from '#gateway/forward/json-text.ts'
import type { RequestHead } from '#http/request-head.ts'

/** What the body becomes; undefined = it stays as it is. */
function asked(body: string | Buffer): string | undefined {
  const parts = withUsageAsked(Buffer.from(body))
  return parts && Buffer.concat(parts).toString()
}

const added = '"stream_options":{"include_usage":true},'

t.test('a body that asks for a stream asks for its usage too, and is otherwise as it was', async (t) => {
  for (const [body, expected] of [
    ['{"stream":true}', `{${added}"stream":true}`],
    [
      ' \r\n\t{ "model" : "é\\u00e9" , "stream" : true }\n',
      ` \r\n\t{${added} "model" : "é\\u00e9" , "stream" : true }\n`,
    ],
    ['{"stream":true,"stream_options":{}}', '{"stream":true,"stream_options":{"include_usage":true}}'],
    ['{"stream":true,"stream_options":{ }}', '{"stream":true,"stream_options":{"include_usage":true }}'],
    [
      '{"stream_options":{"a":[1]},"stream":true}',
      '{"stream_options":{"include_usage":true,"a":[1]},"stream":true}',
    ],
    ['{"stream":true,"stream_options":null}', '{"stream":true,"stream_options":{"include_usage":true}}'],
    // Escapes in names are read as any parser does.
    ['{"\\u0073tream":true}', `{${added}"\\u0073tream":true}`],
    [
      '{"stream":true,"stream\\u005Foptions":{}}',
      '{"stream":true,"stream\\u005Foptions":{"include_usage":true}}',
    ],
    // What a client says there does not count.
    [
      '{"stream":true,"stream_options":{"include_usage":false}}',
      '{"stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      '{"stream":true,"stream_options":{"include_usage" : null }}',
      '{"stream":true,"stream_options":{"include_usage" : true }}',
    ],
    [
      '{"stream":true,"stream_options":{"include_usage":"true"}}',
      '{"stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      '{"stream":true,"stream_options":{"include_usage":0}}',
      '{"stream":true,"stream_options":{"include_usage":true}}',
    ],
    // Elsewhere the names mean nothing.
    [
      '{"a":{"stream":false,"stream_options":{}},"stream":true}',
      `{${added}"a":{"stream":false,"stream_options":{}},"stream":true}`,
    ],
    [
      '{"stream":true,"x":[{"stream_options":1,"stream":1}]}',
      `{${added}"stream":true,"x":[{"stream_options":1,"stream":1}]}`,
    ],
    [
      '{"stream":true,"a":"\\"stream_options\\":{}"}',
      `{${added}"stream":true,"a":"\\"stream_options\\":{}"}`,
    ],
    [
      '{"stream":true,"stream_options":{"a":{"include_usage":true}}}',
      '{"stream":true,"stream_options":{"include_usage":true,"a":{"include_usage":true}}}',
    ],
  ] as const)
    t.equal(asked(body), expected, body)
})

t.test('any other body stays as it is', async (t) => {
  for (const body of [
    '{}',
    '{"stream":false}',
    '{"stream":null}',
    '{"stream":"true"}',
    '{"stream":1}',
    '{"stream":[true]}',
    '{"Stream":true}',
    '{"a":{"stream":true}}',
    '[{"stream":true}]',
    '"stream"',
    '',
    '{"stream":true,"stream_options":{"include_usage":true}}',
    '{"stream":true,"stream_options":{"include_usage":{}}}',
    '{"stream":true,"stream_options":[]}',
    '{"stream":true,"stream_options":true}',
    // Twice: servers take the first or the last, or refuse it.
    '{"stream":true,"stream":true}',
    '{"stream":false,"\\u0073tream":true}',
    '{"stream":true,"stream_options":{},"stream_options":{}}',
    '{"stream":true,"stream_options":{"include_usage":false,"include_usage":true}}',
    // Not JSON in UTF-8.
    '\u{feff}{"stream":true}',
    '{"stream":true}x',
    '{"stream":true}{}',
    '{"stream":true,}',
    '{,"stream":true}',
    '{"stream":true "a":1}',
    '{"stream" true}',
    "{'stream':true}",
    '{"stream":True}',
    '{"stream":tru}',
    '{"stream":true,"a":01}',
    '{"stream":true,"a":1.}',
    '{"stream":true,"a":-}',
    '{"stream":true,"a":+1}',
    '{"stream":true,"a":1e}',
    '{"stream":true,"a":NaN}',
    '{"stream":true,"a":[1,]}',
    '{"stream":true,"a":[1}]}',
    '{"stream":true,"a":[}',
    '{"stream":true,"a":{]}',
    '{"stream":true,"a":"\n"}',
    '{"stream":true,"a":"\\x"}',
    '{"stream":true,"a":"\\u00g0"}',
    '{"stream":true/**/}',
    Buffer.concat([Buffer.from('{"stream":true,"a":"'), Buffer.from([0xff]), Buffer.from('"}')]),
    Buffer.from('{"stream":true}', 'utf16le'),
  ])
    t.equal(asked(body), undefined, body.toString())
})

const samples = [
  '{"stream":true,"a":[1,-2.5e+3,"\\"\\u0041",null,{"b":[[],{}]},false],"stream_options":{"c":0}}',
  '{"stream_options":{"include_usage":false},"model":"é","stream":true}',
  '{"n":0,"m":0.1E-7,"s":"","stream":true }',
]

t.test('what is changed is JSON, and means the same but for the usage, however it was damaged', async (t) => {
  let changed = 0
  for (const sample of samples)
    for (let at = 0; at < sample.length; at++)
      for (const damaged of [
        sample.slice(0, at),
        sample.slice(0, at) + sample.slice(at + 1),
        ...[...'"\\{}[],:0-.eE+ tfnu\u0001é'].map((char) => sample.slice(0, at) + char + sample.slice(at)),
      ]) {
        const result = asked(damaged)
        if (result === undefined) continue
        changed++
        const before = JSON.parse(damaged) as Record<string, unknown>
        const options = { ...(before.stream_options as object), include_usage: true }
        const expected = { ...before, stream_options: options }
        if (!t.strictSame(JSON.parse(result), expected, damaged)) return
      }
  t.ok(changed > 500, `${changed}`)
  for (const sample of samples) t.type(asked(sample), 'string')
})

t.test('the depth is bounded, and costs no stack', async (t) => {
  const nested = (depth: number) => `{"stream":true,"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
  t.type(asked(nested(jsonDepthMax - 1)), 'string')
  t.equal(asked(nested(jsonDepthMax)), undefined)
  t.equal(asked(nested(1_000_000)), undefined)
})

t.test('only a POST of JSON that nothing fixes is looked at', async (t) => {
  const head = (rawHeaders: readonly string[], more: Partial<RequestHead> = {}) =>
    mayAskForStream({
      ...{ method: 'POST', target: '/', minorVersion: 1, isPersistent: true, expectsContinue: false },
      ...{ upgrade: undefined, body: { kind: 'chunked' }, rawHeaders, ...more },
    })
  const json = ['Content-Type', 'application/json']
  for (const type of ['application/json', 'Application/JSON ; charset=utf-8', 'application/vnd.x+json'])
    t.ok(head(['content-type', type]), type)
  t.ok(head([...json, 'Content-Encoding', 'identity']))
  for (const type of ['text/plain', 'application/jsonl', 'application/x-ndjson', 'multipart/form-data', ''])
    t.notOk(head(['Content-Type', type]), type)
  t.notOk(head([]))
  t.notOk(head([...json, ...json]))
  t.notOk(head([...json, 'Content-Encoding', 'gzip']))
  t.notOk(head([...json, 'Content-Encoding', 'identity', 'Content-Encoding', 'br']))
  for (const method of ['GET', 'PUT', 'PATCH', 'post']) t.notOk(head(json, { method }), method)
  t.notOk(head(json, { body: { kind: 'none', isEmpty: true } }))
  for (const name of ['Digest', 'Content-Digest', 'Repr-Digest', 'Content-MD5', 'Signature', 'Content-Range'])
    t.notOk(head([...json, name, 'x']), name)
  t.notOk(head([...json, 'Authorization', 'AWS4-HMAC-SHA256 Credential=x']))
  t.ok(head([...json, 'Authorization', 'Bearer x', 'Want-Content-Digest', 'sha-256=1']))
  t.ok(fixesBody(['content-digest', 'sha-256=:x:']))
})
