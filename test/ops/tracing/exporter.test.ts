import t, { type Test } from 'tap'
import { batchMax, openExporter, queueMax, type Span } from '#ops/tracing/exporter.ts'
import { until } from '../../setup/net.ts'
import { type Collector, startCollector } from './collector.ts'

function spanOf(name: string): Span {
  const ids = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentSpanId: undefined }
  return {
    ...ids,
    name,
    kind: 'server',
    startMs: 1,
    endMs: 2.5,
    isError: false,
    attributes: { a: 'x', b: 7, c: undefined },
  }
}

function open(t: Test, url: string) {
  const counts = { sent: { value: 0 }, dropped: { value: 0 }, failed: { value: 0 } }
  const lines: string[] = []
  const log = {
    info: (text: string) => lines.push(text),
    warn: (_: object, text: string) => lines.push(text),
  }
  const exporter = openExporter({
    url: `${url}/v1/traces`,
    resource: { 'service.name': 'gatehouse' },
    counts,
    // The cast is sound: these are the two forms in which it is called.
    log: log as unknown as Parameters<typeof openExporter>[0]['log'],
  })
  t.teardown(exporter.close)
  const fill = (count: number) => {
    for (let index = 0; index < count; index++) exporter.add(spanOf(`s${index}`))
  }
  return { ...exporter, counts, lines, fill }
}

/** A collector that holds the first batch, so that all following spans are queued. */
async function startBusy(t: Test): Promise<Collector> {
  const collector = await startCollector(t)
  collector.status = undefined
  return collector
}

t.test('spans are exported in batches of OTLP', async (t) => {
  const collector = await startCollector(t)
  const { fill, close, counts } = open(t, collector.url)
  fill(batchMax + 1)
  await close()
  t.strictSame(collector.requests, [
    { url: '/v1/traces', type: 'application/json', spans: batchMax },
    { url: '/v1/traces', type: 'application/json', spans: 1 },
  ])
  t.strictSame(counts, { sent: { value: batchMax + 1 }, dropped: { value: 0 }, failed: { value: 0 } })
  const [first] = collector.spans
  t.match(first, { name: 's0', kind: 2, status: {}, attributes: { a: 'x', b: '7' } })
  t.notOk('c' in (first?.attributes ?? {}))
  t.equal(BigInt(first?.endTimeUnixNano ?? 0) - BigInt(first?.startTimeUnixNano ?? 0), 1_500_000n)
  const now = BigInt(Date.now()) * 1_000_000n
  const age = now - BigInt(first?.startTimeUnixNano ?? 0)
  t.ok(age > 0n && age < 600_000_000_000n, 'nanoseconds since 1970')
  t.match(collector.resources[0], { 'service.name': 'gatehouse' })
})

t.test('a few spans are exported after a while, without a flush', async (t) => {
  const collector = await startCollector(t)
  const { fill, counts } = open(t, collector.url)
  fill(3)
  await until('they are sent', () => counts.sent.value === 3 || undefined)
  t.equal(collector.spans.length, 3)
})

t.test('the span queue holds exactly its limit and drops what is beyond', async (t) => {
  const collector = await startBusy(t)
  const { fill, counts } = open(t, collector.url)
  fill(batchMax)
  await until('the first are on their way', () => collector.requests.length === 1 || undefined)
  fill(queueMax)
  t.equal(counts.dropped.value, 0)
  fill(1)
  t.equal(counts.dropped.value, 1)
  const begun = performance.now()
  fill(1_000_000)
  t.ok(performance.now() - begun < 5_000)
  t.equal(counts.dropped.value, 1_000_001)
})

t.test('a failing and a recovered collector are each logged once', async (t) => {
  const collector = await startCollector(t)
  const { fill, counts, lines } = open(t, collector.url)
  collector.status = 503
  fill(batchMax * 3)
  await until('they have failed', () => counts.failed.value === batchMax * 3 || undefined)
  collector.status = 200
  fill(batchMax * 2)
  await until('they are sent', () => counts.sent.value === batchMax * 2 || undefined)
  t.strictSame(lines, ['trace collector rejects spans', 'trace collector accepts spans again'])
})

t.test(
  'a hanging collector delays the shutdown by two seconds at most, and lost spans are counted',
  async (t) => {
    const collector = await startBusy(t)
    const { fill, close, counts, add } = open(t, collector.url)
    fill(batchMax + 5)
    await until('the first are on their way', () => collector.requests.length === 1 || undefined)
    const begun = performance.now()
    await close()
    t.ok(performance.now() - begun < 4_500, 'and no longer')
    add(spanOf('late'))
    t.equal(counts.failed.value + counts.dropped.value, batchMax + 6)
    await close()
  },
)

t.test('a span of a request that outlives its exporter is sent at once', async (t) => {
  const collector = await startCollector(t)
  const { add, close, counts } = open(t, collector.url)
  await close()
  add(spanOf('late'))
  await until('it has come', () => collector.requests.length === 1 || undefined)
  await until('it is counted', () => counts.sent.value === 1 || undefined)
  t.equal(counts.dropped.value, 0)
})

t.test('an unreachable collector counts as a failed export', async (t) => {
  const { fill, close, counts } = open(t, 'http://127.0.0.1:1')
  fill(2)
  await close()
  t.equal(counts.failed.value, 2)
})
