import t from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { run } from './run.ts'

const page = 'https://app.example.com'

t.test('a preflight, and which page may read an answer', async (t) => {
  const gateway = await startGateway(t, { config: { cors: { origins: [page] } } })
  const explain = async (line: string, ...headers: readonly string[]) => {
    const [method = '', path = ''] = line.split(' ')
    const flags = headers.flatMap((header) => ['-H', header])
    const url = `http://gateway.test${path}`
    const { stdout } = await run(t, [
      'explain',
      method,
      url,
      ...flags,
      '--config',
      gateway.configFile,
      '--json',
    ])
    const { decision, status, route, steps } = JSON.parse(stdout)
    const cors = steps.find(({ step }: { readonly step: string }) => step === 'cors')
    return { decision, status, route, facts: cors?.facts, detail: cors?.detail }
  }
  const asks = 'Access-Control-Request-Method: DELETE'
  t.match(await explain('OPTIONS /key/7', `Origin: ${page}`, asks), {
    decision: 'answer',
    status: 204,
    route: 'key',
    facts: { origin: page, isPreflight: true },
  })
  t.match(await explain('OPTIONS /nowhere', `Origin: ${page}`, asks), { decision: 'refuse', status: 404 })
  const foreign = await explain('OPTIONS /key', 'Origin: https://evil.example', asks)
  t.match(foreign, { decision: 'refuse', status: 401, facts: { origin: null, isPreflight: false } })
  t.match(foreign.detail, /not in cors\.origins/)
  t.match(await explain('GET /public', `Origin: ${page}`), { decision: 'forward', facts: { origin: page } })
  t.match((await explain('GET /portal', `Origin: ${page}`)).detail, /portal/)
  t.equal((await explain('GET /public')).facts, undefined, 'nothing is told of a request that is of no page')
})

t.test('an assertion is told, and none is made', async (t) => {
  const gateway = await startGateway(t, { config: { identity: { assertion: { enabled: true } } } })
  const { secretKey } = await gateway.createAccount()
  const flags = ['-H', `SecretKey: ${secretKey}`, '-H', 'X-Gatehouse-Assertion: forged', '--json']
  const { stdout } = await run(t, ['explain', 'GET', '/key', ...flags, '--config', gateway.configFile])
  const { headers } = JSON.parse(stdout).steps.at(-1).facts
  t.strictSame(headers.at(-1), {
    name: 'X-Gatehouse-Assertion',
    value: '(signed by the gateway for backend, 60 s)',
  })
  t.notMatch(stdout, /forged|eyJ/)
})

t.test(
  'with tracing a backend gets a span of ours as its parent, unless the sender samples nothing',
  async (t) => {
    const tracing = { otlp: { endpoint: 'http://127.0.0.1:1' } }
    const gateway = await startGateway(t, { config: { tracing } })
    const [trace, parent] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
    for (const [sent, value] of [
      [[], '(new for each request)'],
      [['-H', `traceparent: 00-${trace}-${parent}-01`], '(new for each request)'],
      [['-H', `traceparent: 00-${trace}-${parent}-00`], `00-${trace}-${parent}-00`],
    ] as const) {
      const { stdout } = await run(t, [
        'explain',
        'GET',
        '/public',
        ...sent,
        '--config',
        gateway.configFile,
        '--json',
      ])
      const headers: readonly { readonly name: string }[] = JSON.parse(stdout).steps.at(-1).facts.headers
      t.strictSame(
        headers.filter(({ name }) => name === 'traceparent'),
        [{ name: 'traceparent', value }],
      )
    }
  },
)
