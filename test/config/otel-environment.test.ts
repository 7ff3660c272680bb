import t from 'tap'
import { loadConfig, readConfig } from '#config/load.ts'
import { formatPath } from '#config/problem.ts'

const base = `
upstreams: { a: { targets: [{ url: 'http://127.0.0.1:3000' }] } }
routes: [{ name: a, path: /a, upstream: a, auth: none }]
store: { sqlite: { path: ':memory:' } }
`
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }

function tracingOf(env: Readonly<Record<string, string>>, text = '') {
  return loadConfig({ text: base + text, env, settings: ['keys.sealingKey.env=SEAL'] }).config.tracing
}

const seal = { SEAL: Buffer.alloc(32, 7).toString('base64') }

t.test('without an endpoint nothing is traced, whatever else is set', async (t) => {
  t.equal(tracingOf({ ...seal, OTEL_SERVICE_NAME: 'edge', OTEL_TRACES_SAMPLER: 'always_on' }), undefined)
})

t.test('an endpoint is enough, and the others add to it', async (t) => {
  t.match(tracingOf({ ...seal, ...endpoint }), { url: 'http://collector:4318/v1/traces', sampleRatio: 0.05 })
  t.strictSame(
    tracingOf({
      ...seal,
      ...endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=s3cret%3D,x-team=a',
      OTEL_RESOURCE_ATTRIBUTES:
        'deployment.environment.name=prod,service.name=ignored, cloud.region = eu%20west',
      OTEL_SERVICE_NAME: 'edge',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    }),
    {
      url: 'http://collector:4318/v1/traces',
      headers: { 'api-key': 's3cret=', 'x-team': 'a' },
      resource: { 'deployment.environment.name': 'prod', 'cloud.region': 'eu west', 'service.name': 'edge' },
      sampleRatio: 0.25,
    },
  )
})

t.test('the variable for traces has the whole URL', async (t) => {
  const env = {
    ...seal,
    ...endpoint,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.test/otlp/v1/traces',
  }
  t.match(tracingOf(env), { url: 'https://traces.test/otlp/v1/traces' })
})

t.test('what is written in the file, or set for the gateway, stays', async (t) => {
  const file = 'tracing: { otlp: { endpoint: http://written:4318, sampleRatio: 1 } }'
  const env = { ...seal, ...endpoint, OTEL_SERVICE_NAME: 'edge', OTEL_TRACES_SAMPLER: 'always_off' }
  t.match(tracingOf(env, file), {
    url: 'http://written:4318/v1/traces',
    sampleRatio: 1,
    resource: { 'service.name': 'edge' },
  })
  const own = { GATEHOUSE__TRACING__OTLP__ENDPOINT: 'http://own:4318' }
  t.match(tracingOf({ ...env, ...own }), { url: 'http://own:4318/v1/traces', sampleRatio: 0 })
})

t.test('variables that turn tracing off, or mean another protocol, are heeded', async (t) => {
  for (const off of [
    { OTEL_SDK_DISABLED: 'true' },
    { OTEL_TRACES_EXPORTER: 'none' },
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  ])
    t.equal(tracingOf({ ...seal, ...endpoint, ...off }), undefined, JSON.stringify(off))
})

t.test('a wrong value is reported at its variable, and a header is never shown', async (t) => {
  for (const [env, path] of [
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'tracing.otlp.endpoint'],
    [
      { ...endpoint, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '7' },
      'tracing.otlp.sampleRatio',
    ],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 's3cret' }, 'tracing.otlp.headers'],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'a b=s3cret' }, 'tracing.otlp.headers'],
  ] as const) {
    const { problems } = readConfig({
      text: base,
      env: { ...seal, ...env },
      settings: ['keys.sealingKey.env=SEAL'],
    })
    t.strictSame(
      problems.map((problem) => [formatPath(problem.path), problem.source.kind]),
      [[path, 'env']],
    )
    t.notMatch(JSON.stringify(problems), 's3cret')
  }
})
