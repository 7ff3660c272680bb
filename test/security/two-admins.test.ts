import t from 'tap'
import type { CreatedAccount } from '#accounts/accounts.ts'
import { isActiveAdmin } from '#store/accounts.ts'
import { ask } from '../gateway/support/ask.ts'
import { startInstances } from '../instances/instances.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'

// slow: races Admins on three stores, again and again

/** An attempt to take an Admin away: by another one through the admin API of some instance, or by a command. */
type Attempt = (by: CreatedAccount, target: CreatedAccount, at: TestGateway) => Promise<boolean>

const pathOf = ({ account }: CreatedAccount) => `/api/v1/admin/accounts/${account.id}`
const send = async (by: CreatedAccount, at: TestGateway, line: string, body?: object) => {
  const type = body ? ['Content-Type: application/json'] : []
  const headers = [`SecretKey: ${by.secretKey}`, ...type]
  const { status, body: text } = await ask(t, at.url, line, headers, body && JSON.stringify(body))
  // Whoever is no Admin any more is refused before; who still is, because they are the last.
  if (status >= 400)
    t.match(
      text,
      /"code":"(?:last-admin|role-forbidden|account-disabled|secret-key-invalid|account-not-found)"/,
    )
  return status < 400
}
const byCommand = async (at: TestGateway, work: Parameters<TestGateway['operate']>[0]) =>
  at.operate(work).then(
    () => true,
    (error: { readonly code?: string }) => {
      t.match(error.code, /^(?:last-admin|account-not-found)$/)
      return false
    },
  )

const attempts: readonly Attempt[] = [
  (by, target, at) => send(by, at, `PATCH ${pathOf(target)}`, { role: 'User' }),
  (by, target, at) => send(by, at, `PATCH ${pathOf(target)}`, { disabled: true }),
  (by, target, at) => send(by, at, `DELETE ${pathOf(target)}`),
  (_, { account }, at) => byCommand(at, ({ accounts }) => accounts.update(account.id, { role: 'User' })),
  (_, { account }, at) => byCommand(at, ({ accounts }) => accounts.remove(account.id)),
]

async function race(gateways: readonly TestGateway[]): Promise<void> {
  const [first] = gateways as readonly [TestGateway]
  let survivor: string | undefined
  for (const [one, take] of attempts.entries()) {
    for (const [other, takeBack] of attempts.entries()) {
      const made = `${one}-${other}@example.com`
      const ada = await first.createAccount({ email: `ada${made}`, role: 'Admin' })
      const bob = await first.createAccount({ email: `bob${made}`, role: 'Admin' })
      // Known everywhere, so that no instance is late.
      for (const at of gateways) {
        for (const { secretKey } of [ada, bob]) {
          await ask(t, at.url, 'GET /api/v1/admin/accounts', [`SecretKey: ${secretKey}`])
        }
      }
      if (survivor) await first.operate(({ accounts }) => accounts.remove(survivor ?? ''))
      const taken = await Promise.all([take(ada, bob, first), takeBack(bob, ada, gateways.at(-1) ?? first)])
      const left = await first.operate(async ({ store }) =>
        Promise.all([ada, bob].map(({ account }) => store.findAccount(account.id))),
      )
      const admins = left.filter((account) => account && isActiveAdmin(account))
      t.equal(admins.length, 1, `${one} against ${other} leaves an Admin`)
      t.equal(taken.filter(Boolean).length, 1)
      survivor = admins[0]?.id
    }
  }
}

t.test('two Admins who take each other away at once leave one, on SQLite', async (t) => {
  await race([await startGateway(t)])
})

t.test('two Admins who take each other away at once leave one, on one instance with Redis', async (t) => {
  await race([await startGateway(t, { driver: 'redis' })])
})

t.test('two Admins who take each other away at once leave one, on two instances', async (t) => {
  await race((await startInstances(t)).gateways)
})
