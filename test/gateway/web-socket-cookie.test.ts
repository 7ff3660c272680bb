import t from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { openWebSocket, record, startWebSocketBackend } from './support/web-socket.ts'

t.test('a WebSocket that the access cookie admitted is closed when its session ends', async (t) => {
  const backend = await startWebSocketBackend(t)
  const routes = [
    { name: 'ws', path: '/ws', upstream: 'backend', auth: 'any', websocket: true, browser: { cookie: true } },
  ]
  const gateway = await startGateway(t, {
    backend: backend.url,
    config: { accessCookie: { enabled: true }, routes },
  })
  const account = await gateway.createAccount()
  const { JwtToken } = await gateway.tokens(account)
  const headers = {
    Cookie: `accessToken=${JwtToken}`,
    Origin: gateway.url,
    'Sec-Fetch-Site': 'same-origin',
  }
  const seen = record(await openWebSocket(t, `${gateway.url}/ws`, { headers }))
  await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(account.account.id, 0))
  await until('it is closed', () => seen.closes.length > 0 || undefined, 5_000)
  t.match(seen.closes, [{ code: 4001 }])
})
