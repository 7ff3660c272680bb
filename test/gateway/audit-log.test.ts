import t from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { adminPath } from './support/admin.ts'
import { ask, askJson } from './support/ask.ts'

t.test('each audit entry is also written to the log, without secrets', async (t) => {
  const gateway = await startGateway(t)
  const admin = await gateway.createAccount({ role: 'Admin' })
  const ada = await gateway.createAccount()
  const headers = [`SecretKey: ${admin.secretKey}`]
  const reset = await askJson(t, gateway.url, `${adminPath}/${ada.account.id}/api-key`, {}, headers)
  t.equal(reset.status, 200)
  const { apiKey } = JSON.parse(reset.body) as { readonly apiKey: string }
  const lines = gateway.logLines.filter((line) => line.includes('"event":"audit"'))
  t.match(lines.map((line) => JSON.parse(line)).at(-1), {
    level: 'info',
    event: 'audit',
    action: 'api-key-reset',
    channel: 'api',
    actor: admin.account.email,
    targetId: ada.account.id,
  })
  for (const secret of [apiKey, ada.secretKey, admin.secretKey]) {
    t.notOk(gateway.logLines.some((line) => line.includes(secret)))
  }
  t.equal((await ask(t, gateway.url, 'GET /api/v1/admin/audit', headers)).status, 200)
})
