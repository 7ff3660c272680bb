import type { ServerResponse } from 'node:http'
import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { until } from '../setup/net.ts'
import { ask } from './support/ask.ts'
import { readMetrics } from './support/metrics.ts'
import { reloadWith, taken } from './support/reload.ts'

const routeOf = (name: string) => ({ name, path: `/${name}`, upstream: 'backend', auth: 'none' })

t.test('requests are counted under their routes, though a reload gives these other places', async (t) => {
  const waiting: ServerResponse[] = []
  const config = { routes: [routeOf('orders'), routeOf('files')] }
  const gateway = await startBoth(t, {
    answer: (request, response) => {
      if (request.url === '/orders?slow') waiting.push(response)
      else response.end('ok')
    },
    config,
  })
  const slow = ask(t, gateway.url, 'GET /orders?slow')
  const [held] = await until('it is on its way', () => (waiting.length > 0 ? waiting : undefined))
  await ask(t, gateway.url, 'GET /files')
  t.match(await reloadWith(gateway, { routes: [routeOf('users'), ...config.routes.toReversed()] }), taken)
  held?.end('late')
  t.equal((await slow).status, 200)
  for (const name of ['users', 'files', 'files', 'orders']) await ask(t, gateway.url, `GET /${name}`)
  const counts = await until('all are counted', async () => {
    const { value } = await readMetrics(gateway.opsUrl)
    const countOf = (route: string) => value('gatehouse_http_requests_total', { route, code: '200' })
    return value('gatehouse_http_requests_total') === 6
      ? ['orders', 'files', 'users'].map(countOf)
      : undefined
  })
  t.strictSame(counts, [2, 3, 1])
})
