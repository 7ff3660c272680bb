import t from 'tap'
import { startBackend } from '../../setup/backend.ts'
import { haproxy } from './proxies/haproxy.ts'
import { startProxy } from './proxies/run-proxy.ts'
import { testProxy, testWebSockets } from './proxies/suite.ts'

testProxy(t, haproxy)
testWebSockets(t, haproxy)

t.test('HAProxy has no warning about its file', async (t) => {
  const { url } = await startBackend(t)
  const { output } = await startProxy(t, haproxy, { gatehouse: url, decide: url, backend: url })
  t.notMatch(output.join(''), 'WARNING')
})
