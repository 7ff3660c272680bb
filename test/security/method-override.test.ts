import t from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { startBoth } from '../setup/both.ts'

const route = { upstream: 'backend', auth: 'none', methods: ['GET', 'POST'] }

/** As servers that turn names into variables read them. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

t.test('no field of the client makes a backend carry out another method, or takes its proxy', async (t) => {
  const routes = [
    { ...route, name: 'drop', path: '/drop' },
    { ...route, name: 'pass', path: '/pass', methodOverride: 'pass' },
  ]
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  const overrides = ['X-HTTP-Method-Override', 'x_http_method_override', 'X-HTTP-Method', 'X.Method.Override']
  const sent = [...overrides, 'Proxy', 'pRoXy', '_proxy'].map((name) => `${name}: DELETE`)
  const names = async (line: string) => {
    t.equal((await ask(t, gateway.url, line, sent)).status, 200)
    return Object.keys(backend.last().headers).map(plain)
  }
  for (const line of ['GET /drop', 'POST /drop']) {
    const got = await names(line)
    for (const name of [...overrides, 'Proxy']) t.notOk(got.includes(plain(name)), `${line}: ${name}`)
  }
  const got = await names('POST /pass')
  for (const name of overrides) t.ok(got.includes(plain(name)), name)
  t.notOk(got.includes('proxy'), 'Proxy passes nowhere')
})
