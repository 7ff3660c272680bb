import t from 'tap'
import { createTracer, parseTraceparent } from '#ops/tracing/tracer.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'
const sampled = `00-${traceId}-${parentId}-01`

t.test('a well-formed traceparent is parsed, whatever its flags and version', async (t) => {
  const all: readonly (readonly [text: string, isSampled: boolean])[] = [
    [sampled, true],
    [`00-${traceId}-${parentId}-00`, false],
    [`00-${traceId}-${parentId}-03`, true],
    [`00-${traceId}-${parentId}-fe`, false],
    [`cc-${traceId}-${parentId}-01`, true],
    [`cc-${traceId}-${parentId}-01-what-comes-later`, true],
  ]
  for (const [text, isSampled] of all)
    t.strictSame(parseTraceparent(text), { traceId, parentId, isSampled }, text)
})

t.test('a malformed traceparent is ignored', async (t) => {
  const wrong = [
    '',
    '00',
    sampled.toUpperCase(),
    `${sampled}-more`,
    `${sampled} `,
    ` ${sampled}`,
    `ff${sampled.slice(2)}`,
    `00-${'0'.repeat(32)}-${parentId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    sampled.slice(0, -1),
    `00-${traceId.slice(1)}-${parentId}-01`,
    `cc-${traceId}-${parentId}-01more`,
    `${sampled}\n`,
  ]
  for (const text of wrong) t.equal(parseTraceparent(text), undefined, text)
})

t.test("a sampled trace continues with the gateway's span as the upstream's parent", async (t) => {
  const { startTrace } = createTracer(0)
  const trace = startTrace(['A', '1', 'TraceParent', sampled, 'tracestate', 'a=b'])
  t.match(trace, { traceId, parentId, isSampled: true })
  t.strictSame(trace.rawHeaders, ['A', '1', 'tracestate', 'a=b'])
  t.equal(trace.traceparent, `00-${traceId}-${trace.upstreamSpanId}-01`)
  t.equal(new Set([trace.spanId, trace.upstreamSpanId, parentId]).size, 3)
})

t.test('an unsampled trace context passes unchanged', async (t) => {
  const sent = ['traceparent', `00-${traceId}-${parentId}-00`, 'tracestate', 'a=b']
  const trace = createTracer(1).startTrace(sent)
  t.equal(trace.isSampled, false)
  t.equal(trace.rawHeaders, sent)
  t.equal(trace.traceparent, undefined, 'it is among them')
})

t.test('no traceparent, two, or a malformed one begins a new trace without tracestate', async (t) => {
  for (const [ratio, flags] of [
    [1, '01'],
    [0, '00'],
  ] as const) {
    const { startTrace } = createTracer(ratio)
    for (const sent of [[], ['traceparent', 'x'], ['traceparent', sampled, 'Traceparent', sampled]]) {
      const trace = startTrace([...sent, 'tracestate', 'a=b', 'B', '2'])
      t.equal(trace.parentId, undefined)
      t.equal(trace.isSampled, ratio === 1)
      t.strictSame(trace.rawHeaders, ['B', '2'])
      const made = trace.traceparent ?? ''
      t.equal(made, `00-${trace.traceId}-${trace.upstreamSpanId}-${flags}`)
      t.match(parseTraceparent(made), { isSampled: ratio === 1 })
    }
  }
})

t.test('a configured share of new traces is sampled', async (t) => {
  const { startTrace } = createTracer(0.25)
  const count = Array.from({ length: 4_000 }, () => startTrace([])).filter(
    ({ isSampled }) => isSampled,
  ).length
  // 1,000 plus seven standard deviations.
  t.ok(Math.abs(count - 1_000) < 200, `${count} of 4,000`)
})

t.test('a request without a trace keeps its array of fields, by which its lines are cached', async (t) => {
  const sent = ['A', '1', 'B', '2']
  const trace = createTracer(1).startTrace(sent)
  t.equal(trace.rawHeaders, sent)
  t.equal(trace.traceparent, `00-${trace.traceId}-${trace.upstreamSpanId}-01`)
})

t.test('the IDs of many traces are all different, and never short', async (t) => {
  const { startTrace } = createTracer(1)
  const traces = Array.from({ length: 1_000 }, () => startTrace([]))
  for (const { traceparent = '' } of traces) t.ok(parseTraceparent(traceparent), traceparent)
  t.equal(new Set(traces.map(({ traceId }) => traceId)).size, 1_000)
  t.equal(new Set(traces.flatMap(({ spanId, upstreamSpanId }) => [spanId, upstreamSpanId])).size, 2_000)
})
