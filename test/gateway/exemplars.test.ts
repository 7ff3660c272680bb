import t from 'tap'
import { startCollector } from '../ops/tracing/collector.ts'
import { startBoth } from '../setup/both.ts'
import { ask } from './support/ask.ts'

const accept = { Accept: 'application/openmetrics-text; version=1.0.0' }
const routes = [{ name: 'open', path: '/open', upstream: 'backend', auth: 'none' }]
const sampled = '0af7651916cd43dd8448eb211c80319c'
const unsampled = '1af7651916cd43dd8448eb211c80319c'
const traceparent = (traceId: string, flags: string) => `traceparent: 00-${traceId}-b7ad6b7169203331-${flags}`

t.test('exemplars lead from a slow bucket to a trace, for whoever asks for OpenMetrics', async (t) => {
  const collector = await startCollector(t)
  const { gateway } = await startBoth(t, {
    config: { routes, tracing: { otlp: { endpoint: collector.url, sampleRatio: 0 } } },
  })
  const scrape = async (headers = {}) => {
    const response = await fetch(`${gateway.opsUrl}/metrics`, { headers })
    return { type: response.headers.get('content-type'), text: await response.text() }
  }
  const exemplarsIn = (text: string) =>
    [...text.matchAll(/^(\w+)_bucket\{le="[^"]+",route="(\w+)"\} \d+ # \{trace_id="(\w+)"\} /gm)].map(
      (found) => found.slice(1),
    )
  await ask(t, gateway.url, 'GET /open/a')
  await ask(t, gateway.url, 'GET /open/b', [traceparent(unsampled, '00')])
  t.strictSame(exemplarsIn((await scrape(accept)).text), [], 'no collector has these traces')
  await ask(t, gateway.url, 'GET /open/c', [traceparent(sampled, '01')])
  await ask(t, gateway.url, 'GET /nowhere', [traceparent(sampled, '01')])
  const { type, text } = await scrape(accept)
  t.equal(type, 'application/openmetrics-text; version=1.0.0; charset=utf-8')
  const duration = 'gatehouse_http_request_duration_seconds'
  t.strictSame(exemplarsIn(text).toSorted(), [
    [duration, '_unmatched', sampled],
    [duration, 'open', sampled],
  ])
  const plain = await scrape()
  t.equal(plain.type, 'text/plain; version=0.0.4; charset=utf-8')
  t.notMatch(plain.text, sampled)
})

t.test('without tracing nothing is kept of a traced request', async (t) => {
  const { gateway } = await startBoth(t, { config: { routes } })
  await ask(t, gateway.url, 'GET /open/a', [traceparent(sampled, '01')])
  const text = await (await fetch(`${gateway.opsUrl}/metrics`, { headers: accept })).text()
  t.match(text, /^gatehouse_http_request_duration_seconds_count\{route="open"\} 1$/m)
  t.notMatch(text, sampled)
})
