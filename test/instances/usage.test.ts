import t from 'tap'
import { dayOf } from '#platform/time.ts'
import { until } from '../setup/net.ts'
import { startInstances } from './instances.ts'

// slow: starts several instances

t.test('the usage of several instances on one Redis adds up', async (t) => {
  const { gateways } = await startInstances(t)
  const [first] = gateways
  const { account, secretKey } = await first.createAccount()
  const today = dayOf(Date.now())
  const days = { from: today - 1, to: today + 1 }
  let sent = 0
  for (const { url } of [...gateways, ...gateways, first]) {
    const response = await fetch(`${url}/any/x`, { headers: { SecretKey: secretKey } })
    await response.text()
    t.equal(response.status, 200)
    sent++
  }
  const used = await until('all are counted', async () => {
    const counts = await first.operate(({ usage }) => usage.read(account.id, days))
    return counts.reduce((sum, { requests }) => sum + requests, 0) === sent ? counts : undefined
  })
  t.match(used, [{ key: 'default', requests: sent, units: sent }])
})
