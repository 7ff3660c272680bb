import { queryObjects } from 'node:v8'
import t from 'tap'
import { ClientConnection } from '#http/server/client-connection.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { openWebSocket, startWebSocketBackend } from './support/web-socket.ts'

// alone: counts what is left in memory
// timed: counts what is left in memory

t.test('closed WebSockets leave nothing in memory, though their key expires later', async (t) => {
  const backend = await startWebSocketBackend(t)
  const routes = [{ name: 'ws', path: '/ws', upstream: 'backend', auth: 'any', websocket: true }]
  const gateway = await startGateway(t, { backend: backend.url, config: { routes } })
  const { account, secretKey } = await gateway.createAccount()
  const headers = { SecretKey: secretKey }
  const sockets = [await openWebSocket(t, `${gateway.url}/ws`, { headers })]
  await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(account.id, 3_600))
  for (let count = 0; count < 3; count++)
    sockets.push(await openWebSocket(t, `${gateway.url}/ws`, { headers }))
  t.equal(queryObjects(ClientConnection, { format: 'count' }), 4)
  for (const socket of sockets) socket.close()
  await until('they are gone', () => queryObjects(ClientConnection, { format: 'count' }) === 0)
})
