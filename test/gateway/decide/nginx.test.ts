import { readFileSync } from 'node:fs'
import t from 'tap'
import { startBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { startRedis } from '../../setup/redis.ts'
import { ask } from '../support/ask.ts'
import { nginx } from './proxies/nginx.ts'
import { startProxy } from './proxies/run-proxy.ts'
import { startGuarded, testProxy, testWebSockets } from './proxies/suite.ts'
import { startDecideGateway } from './support.ts'

testProxy(t, nginx)
testWebSockets(t, nginx)

t.test('no location of nginx lets an answer lead into another', (t) => {
  for (const file of ['deploy/proxies/nginx-auth-request.conf', 'deploy/fronts/nginx.conf']) {
    const locations = readFileSync(file, 'utf8')
      .split(/^ +location /m)
      .slice(1)
    const forwarding = locations.filter((each) => each.includes('proxy_pass http'))
    t.ok(forwarding.length > 0)
    for (const location of forwarding) t.match(location, 'proxy_ignore_headers X-Accel-Redirect;', file)
  }
  t.end()
})

t.test('nginx says 503, not 403, while the store is out of reach', async (t) => {
  const redis = await startRedis(t)
  const gateway = await startDecideGateway(t, { driver: 'redis', redis })
  const { secretKey } = await gateway.createAccount()
  const { url: backend } = await startBackend(t)
  const proxy = await startProxy(t, nginx, { gatehouse: gateway.url, decide: gateway.decideUrl, backend })
  await redis.stop()
  const refused = await until('it is 503', async () => {
    const asked = await ask(t, proxy.url, 'GET /key', [`SecretKey: ${secretKey}`])
    return asked.status === 503 ? asked : undefined
  })
  t.equal(refused.headers['retry-after'], '1')
  t.equal((await ask(t, proxy.url, 'GET /nowhere')).status, 403)
})

t.test('nginx says 403, not 429, where the limit of a route is not what refuses', async (t) => {
  const { proxy } = await startGuarded(t, nginx)
  const refused = await ask(t, proxy.url, 'PUT /rated', ['Destination: http://evil.example/'])
  t.equal(refused.status, 403)
  t.equal((await ask(t, proxy.url, 'GET /rated')).status, 200)
  t.equal((await ask(t, proxy.url, 'GET /rated')).status, 429)
})
