import t from 'tap'
import { exemplarsOf, FastHistogram } from '#ops/metrics/histogram.ts'
import { openMetrics } from '#ops/metrics/metrics.ts'
import { prefersOpenMetrics, toOpenMetrics } from '#ops/metrics/open-metrics-format.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'

t.test('OpenMetrics is for scrapers that would rather have it', async (t) => {
  const prometheus2 =
    'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
  const prometheus3 =
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2'
  for (const accept of [
    prometheus2,
    prometheus3,
    'application/openmetrics-text',
    'text/plain; q=0.5, Application/OpenMetrics-Text; Q=0.9',
  ])
    t.equal(prefersOpenMetrics(accept), true, accept)
  for (const accept of [
    '',
    '*/*',
    'text/html,*/*;q=0.8',
    'text/plain',
    'text/plain;version=0.0.4, application/openmetrics-text',
    'application/openmetrics-text;q=0',
    'application/openmetrics-text;q=0.4, text/plain;q=0.5',
  ])
    t.equal(prefersOpenMetrics(accept), false, accept)
})

t.test('every sample belongs to a family that is described before it', async (t) => {
  const metrics = openMetrics({ version: '1.2.3' })
  t.teardown(metrics.close)
  metrics.requestDuration.labels('a "b"', '').observe(1)
  metrics.requests.labels('a', 'GET', '200', '').value++
  const lines = (await metrics.text(true)).split('\n')
  t.strictSame(lines.slice(-2), ['# EOF', ''])
  const suffixes: Readonly<Record<string, readonly string[]>> = {
    counter: ['_total'],
    gauge: [''],
    histogram: ['_bucket', '_sum', '_count'],
  }
  let names: readonly string[] = []
  for (const line of lines.slice(0, -2)) {
    const [, name = '', type = ''] = /^# TYPE (\w+) (\w+)$/.exec(line) ?? []
    if (type !== '') names = (suffixes[type] ?? []).map((suffix) => name + suffix)
    else if (line.startsWith('# HELP ')) t.notMatch(line, /[^\\]"/, 'quotes are escaped')
    else t.ok(names.includes(/^\w+/.exec(line)?.[0] ?? ''), line)
  }
  t.ok(lines.includes('gatehouse_http_requests_total{route="a",method="GET",code="200"} 1'))
  t.ok(lines.includes('gatehouse_http_request_duration_seconds_bucket{le="1.0",route="a \\"b\\""} 1'))
  t.ok(lines.includes('gatehouse_http_request_duration_seconds_bucket{le="2.5",route="a \\"b\\""} 1'))
  t.notMatch(lines.join('\n'), /le="\d+"/)
  t.equal((await metrics.text()).includes('# EOF'), false, 'the text format has none')
})

t.test('a bucket has the last traced request that was counted in it, of all processes', async (t) => {
  const options = { name: 'seconds', help: 'Seconds.', labelNames: ['route'], buckets: [0.5, 1] }
  const [first, second] = [new FastHistogram(options), new FastHistogram(options)]
  const other = '1'.repeat(32)
  first.observeAt(first.labels('a').start, 0.25, undefined)
  t.equal(exemplarsOf([first.packed()]).size, 0)
  first.observeAt(first.labels('a').start, 0.4, other)
  first.observeAt(first.labels('a').start, 0.3, traceId)
  first.observeAt(first.labels('a').start, 7, traceId)
  const labels = { labels: { route: 'a' }, numbers: [] }
  const older = {
    ...second.packed(),
    rows: [{ ...labels, exemplars: [[0, { traceId: other, value: 0.1, at: 1 }] as const] }],
  }
  // As it comes from another process.
  const packed = JSON.parse(JSON.stringify([first.packed(), older]))
  const exemplars = exemplarsOf(packed)
  t.strictSame(
    [...exemplars.keys()],
    ['seconds_bucket{le="0.5",route="a"}', 'seconds_bucket{le="+Inf",route="a"}'],
  )
  const lines = toOpenMetrics(first.text(), exemplars).split('\n')
  const ending = `# {trace_id="${traceId}"}`
  t.match(
    lines[2],
    new RegExp(`^seconds_bucket\\{le="0.5",route="a"\\} 3 ${ending} 0\\.3 \\d{10}(\\.\\d{1,3})?$`),
  )
  t.equal(lines[3], 'seconds_bucket{le="1.0",route="a"} 3')
  t.match(lines[4], new RegExp(`^seconds_bucket\\{le="\\+Inf",route="a"\\} 4 ${ending} 7 `))
})
