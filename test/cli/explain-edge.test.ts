import t from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { run } from './run.ts'

const page = 'https://app.example.com'

t.test('explain shows preflights, and which origin may read an answer', async (t) => {
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
  t.equal((await explain('GET /public')).facts, undefined, 'nothing is said of a request that is for no page')
})

t.test('explain mentions the assertion without signing one', async (t) => {
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

t.test('a URL beyond ASCII is explained as the gateway reads it: percent-encoded, in UTF-8', async (t) => {
  const gateway = await startGateway(t)
  for (const url of ['/public/café?q=ü', 'http://gateway.test/public/caf%C3%A9?q=%C3%BC']) {
    const { stdout, status } = await run(t, ['explain', 'GET', url, '--config', gateway.configFile, '--json'])
    t.equal(status, 0)
    const { decision, steps } = JSON.parse(stdout)
    t.equal(decision, 'forward')
    t.match(steps.at(-1).facts.target, /caf%C3%A9\?q=/)
  }
})

t.test('explain shows OPTIONS that the gateway answers itself', async (t) => {
  const gateway = await startGateway(t)
  const explain = async (url: string, hops: string) => {
    const flags = ['-H', `Max-Forwards: ${hops}`, '--config', gateway.configFile, '--json']
    return JSON.parse((await run(t, ['explain', 'OPTIONS', url, ...flags])).stdout)
  }
  t.match(await explain('*', '5'), { decision: 'answer', status: 204, route: '_gateway' })
  const { stdout } = await run(t, [
    ...['explain', 'OPTIONS', '*', '-H', 'Content-Length: x'],
    ...['--config', gateway.configFile, '--json'],
  ])
  t.match(JSON.parse(stdout), { decision: 'refuse', status: 400, code: 'request-invalid' })
  t.match(await explain('/public', '0'), { decision: 'answer', status: 204, route: 'public' })
  t.match(await explain('/public', 'x'), { decision: 'refuse', status: 400, code: 'request-invalid' })
  const passed = await explain('/public', '5')
  t.equal(passed.decision, 'forward')
  const { headers } = passed.steps.at(-1).facts
  t.match(headers, [{}, { name: 'Max-Forwards', value: '4' }])
})
