import { once } from 'node:events'
import { createServer } from 'node:http2'
import { performance } from 'node:perf_hooks'
import t, { type Test } from 'tap'
import { startServer } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { portOf, until } from '../setup/net.ts'
import { ask } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

t.test('an internal error is logged even where requests are not', async (t) => {
  let isBroken = false
  const clock = () => {
    const fault = new RangeError('the clock is broken')
    // Only to a request: others look at it, too.
    if (isBroken && fault.stack?.includes('/identity/authenticator.ts')) throw fault
    return Date.now()
  }
  const gateway = await startGateway(t, { clock, config: { log: { access: false } } })
  const { secretKey } = await gateway.createAccount()
  isBroken = true
  const response = await ask(t, gateway.url, 'GET /any', [`SecretKey: ${secretKey}`])
  assertProblem(t, response, { status: 500, code: 'internal' })
  t.notMatch(response.body, /clock/, 'the client learns nothing of it')
  const line = await until('it is logged', () => gateway.logLines.find((text) => text.includes('broken')))
  t.match(JSON.parse(line), {
    level: 'error',
    requestId: response.headers['x-request-id'],
    route: 'any',
    err: { name: 'RangeError', stack: /internal-error\.test\.ts/ },
  })
})

/** Of either version of HTTP. */
interface Response {
  setHeader(name: string, value: string): unknown
  write(text: string): unknown
  end(text: string): unknown
}

async function startHttp2Server(
  t: Test,
  answer: (request: { readonly url?: string | undefined }, response: Response) => void,
): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${portOf(server)}`
}

for (const protocol of ['http1', 'http2'] as const)
  t.test(`${protocol}: an internal error about a response is not the backend's`, async (t) => {
    let isBroken = false
    const clock = () => {
      const fault = new RangeError('the clock is broken')
      if (isBroken && fault.stack?.includes('/forward/response-cost.ts')) throw fault
      return Date.now()
    }
    let finish = () => {}
    const answer = ({ url }: { readonly url?: string | undefined }, response: Response) => {
      if (url === '/head') response.setHeader('X-Cost', '5')
      response.setHeader('Content-Type', 'application/json')
      response.write('{"usage":')
      finish = () => response.end('{"total_tokens":3}}')
      if (url === '/head') finish()
    }
    const url = await (protocol === 'http1' ? startServer(t, answer) : startHttp2Server(t, answer))
    const gateway = await startGateway(t, {
      clock,
      config: {
        log: { access: false },
        plans: { trial: { quota: { limit: 100, per: 'month' } } },
        upstreams: {
          backend: { targets: [{ url }], protocol, health: { passive: { maxFailures: 1 } } },
        },
        routes: [
          {
            ...{ name: 'models', path: '/', upstream: 'backend', auth: 'any' },
            ...{ costHeader: 'X-Cost', costField: 'usage.total_tokens', quotaCounts: 'units' },
          },
        ],
      },
    })
    const { secretKey } = await gateway.createAccount({ plan: 'trial' })
    const send = (path: string) => fetch(`${gateway.url}/${path}`, { headers: { SecretKey: secretKey } })
    const faults = () => gateway.logLines.filter((text) => text.includes('internal error'))
    isBroken = true
    const refused = await send('head')
    t.match([refused.status, await refused.json()], [500, { code: 'internal' }])
    await until('it is logged', () => faults().length === 1 || undefined)
    const cut = await send('body')
    t.equal(cut.status, 200, 'the head was on its way')
    finish()
    await t.rejects(cut.text(), 'what has begun is cut off')
    await until('it is logged too', () => faults().length === 2 || undefined)
    for (const line of faults())
      t.match(JSON.parse(line), { level: 'error', route: 'models', err: { name: 'RangeError' } })
    isBroken = false
    t.equal((await send('head')).status, 200, 'the target is still healthy')
  })

/** Lets the monotonic clock fail while `isBroken` returns true, but only where code of one file reads it. */
function breakMonotonicClock(t: Test, file: string, isBroken: () => boolean): void {
  const now = performance.now.bind(performance)
  performance.now = () => {
    if (!isBroken()) return now()
    const fault = new RangeError('the monotonic clock is broken')
    // Below the message, this function and `monotonicClock`.
    if (fault.stack?.split('\n')[3]?.includes(file)) throw fault
    return now()
  }
  // What was there before is inherited.
  t.teardown(() => Reflect.deleteProperty(performance, 'now'))
}

t.test('an internal error at the end of an ordinary response ends no more than this response', async (t) => {
  let isBroken = false
  breakMonotonicClock(t, '/gateway/lane/lane-request.ts', () => isBroken)
  let finish = () => {}
  const url = await startServer(t, ({ url }, response) => {
    response.setHeader('Content-Length', '6')
    response.write('abc')
    finish = () => response.end('def')
    if (url === '/any/whole') finish()
  })
  const gateway = await startGateway(t, {
    backend: url,
    config: { log: { access: false } },
  })
  const { secretKey } = await gateway.createAccount()
  const send = (path: string) => fetch(`${gateway.url}${path}`, { headers: { SecretKey: secretKey } })
  const faults = () => gateway.logLines.filter((text) => text.includes('internal error'))
  // Only a caller who has sent several requests takes the fast lane.
  for (let count = 0; count < 3; count++) t.equal(await (await send('/any/whole')).text(), 'abcdef')
  isBroken = true
  const refused = await send('/any/whole')
  t.match([refused.status, await refused.json()], [500, { code: 'internal' }])
  await until('it is logged', () => faults().length === 1 || undefined)
  const cut = await send('/any/parts')
  t.equal(cut.status, 200, 'the head was on its way')
  finish()
  await t.rejects(cut.text(), 'what has begun is cut off')
  await until('it is logged too', () => faults().length === 2 || undefined)
  for (const line of faults())
    t.match(JSON.parse(line), { level: 'error', route: 'any', err: { name: 'RangeError' } })
  isBroken = false
  t.equal(await (await send('/any/whole')).text(), 'abcdef')
})

t.test('an internal error of the observer is logged, and no request is refused for it', async (t) => {
  let isBroken = false
  breakMonotonicClock(t, '/gateway/server/observe.ts', () => isBroken)
  const gateway = await startGateway(t)
  const { secretKey } = await gateway.createAccount()
  const paths = ['/any', '/any/', '/api/v1/openapi.json']
  const statuses = async () => {
    const sent = paths.map((path) => fetch(gateway.url + path, { headers: { SecretKey: secretKey } }))
    return (await Promise.all(sent)).map(({ status }) => status)
  }
  const before = await statuses()
  isBroken = true
  t.strictSame(await statuses(), before)
  const faults = () => gateway.logLines.filter((text) => text.includes('internal error'))
  await until('each is logged', () => faults().length === paths.length || undefined)
  for (const line of faults()) t.match(JSON.parse(line), { level: 'error', err: { name: 'RangeError' } })
  isBroken = false
  t.strictSame(await statuses(), before)
})
