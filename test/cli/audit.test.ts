import t from 'tap'
import { startGateway, storeDrivers } from '../setup/gateway.ts'
import { run } from './run.ts'

interface ListedEntry {
  readonly id: string
  readonly action: string
  readonly actor: string
}

for (const driver of storeDrivers) {
  t.test(`the audit log on ${driver} is listed and verified by commands`, async (t) => {
    const gateway = await startGateway(t, { driver })
    const ada = await gateway.createAccount()
    const gatehouse = (...args: readonly string[]) => run(t, [...args, '--config', gateway.configFile])
    await gatehouse('keys', 'reset-api', ada.account.email)
    const listed = (await gatehouse('audit', 'list', '--action', 'api-key-reset', '--json')).json()
    t.match(listed as readonly ListedEntry[], [{ action: 'api-key-reset', target: ada.account.email }])
    t.equal((await gatehouse('audit', 'list', '--action', 'nonsense')).status, 2)
    t.equal((await gatehouse('audit', 'list', '--limit', '0')).status, 2)
    const verified = await gatehouse('audit', 'verify', '--json')
    t.equal(verified.status, 0)
    t.match(verified.json(), { verified: true, unchained: 0 })
  })
}
