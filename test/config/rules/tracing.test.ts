import t from 'tap'
import { load, minimalConfig, problemMessages } from '../config-fixtures.ts'

const otlp = (options: Readonly<Record<string, unknown>>) => ({
  ...minimalConfig,
  tracing: { otlp: options },
})

t.test("the OTLP path is appended to the collector's URL", async (t) => {
  t.equal(load(t, minimalConfig).tracing, undefined)
  for (const [endpoint, url] of [
    ['http://localhost:4318', 'http://localhost:4318/v1/traces'],
    ['http://localhost:4318/', 'http://localhost:4318/v1/traces'],
    ['https://traces.example/in/', 'https://traces.example/in/v1/traces'],
  ]) {
    t.match(load(t, otlp({ endpoint })).tracing, { url, sampleRatio: 0.05 })
  }
  for (const sampleRatio of [0, 0.5, 1]) {
    t.equal(load(t, otlp({ endpoint: 'http://a', sampleRatio })).tracing?.sampleRatio, sampleRatio)
  }
})

t.test('a tracing section with a bad URL, or none, is refused', async (t) => {
  for (const [endpoint, complaint] of [
    ['localhost:4318', /must be a URL such as/],
    ['grpc://localhost:4317', /must be a URL such as/],
    ['http://me:pass@localhost', /must not contain credentials/],
    ['http://localhost?a', /query or fragment/],
    ['http://localhost#a', /query or fragment/],
  ] as const) {
    t.match(problemMessages(t, otlp({ endpoint })), [complaint], endpoint)
  }
  t.match(problemMessages(t, otlp({})), ['tracing.otlp.endpoint: is missing'])
  t.strictSame(problemMessages(t, otlp({ endpoint: 'http://a', sampleRatio: 1.01 })), [
    'tracing.otlp.sampleRatio: must be a number from 0 to 1',
  ])
})
