import t from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
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
