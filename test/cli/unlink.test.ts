import t from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { run } from './run.ts'

t.test('accounts unlink takes the person at the provider from an account', async (t) => {
  const gateway = await startGateway(t)
  const { account } = await gateway.createAccount()
  const { id, email } = account
  const identity = { issuer: 'https://id.example.com', subject: 'ada' }
  const unlink = (...more: readonly string[]) =>
    run(t, ['accounts', 'unlink', ...more, '--config', gateway.configFile])
  await gateway.operate(({ store }) => store.linkIdentity(id, { identity, email }))
  t.match(await unlink(email), { status: 0, stdout: `Account ${id} (${email}) is unlinked` })
  t.equal(await gateway.operate(({ store }) => store.findAccountByIdentity(identity)), undefined)
  t.strictSame((await unlink(id, '--json')).json(), { id, wasLinked: false })
  t.match(await unlink('nobody@example.com'), { status: 1, stderr: /no account/i })
  const filter = { action: 'identity-unlinked', who: undefined } as const
  const { entries } = await gateway.operate(({ store }) =>
    store.findAudit({ filter, before: undefined, limit: 10 }),
  )
  t.match(entries, [{ target: { id }, details: identity }])
  t.equal(entries.length, 1, 'nothing is logged where nothing changes')
})
