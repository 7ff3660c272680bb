import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import t, { type Test } from 'tap'
import type { DefaultKeysStatus } from '#accounts/keys/default-keys.ts'
import { startBoth } from '../setup/both.ts'
import { type StoreDriver, storeDrivers, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { tamper } from '../setup/tamper.ts'

async function start(t: Test, driver: StoreDriver) {
  const gateway = await startBoth(t, { driver, config: { trustedProxies: ['127.0.0.1'] } })
  const callFrom = async (address: string, secretKey: string) => {
    const headers = { SecretKey: secretKey, 'X-Forwarded-For': address }
    return (await fetch(`${gateway.url}/any/x`, { headers })).status
  }
  return { gateway, callFrom }
}

/** The status once it is as asked for: uses are written by the way. */
function statusWhen(
  gateway: TestGateway,
  id: string,
  isSo: (status: DefaultKeysStatus) => boolean,
): Promise<DefaultKeysStatus> {
  return gateway.operate(({ defaultKeys }) =>
    until('the use shows', async () => {
      const status = await defaultKeys.status(id)
      return isSo(status) ? status : undefined
    }),
  )
}

t.test('the last use of a key has its new address though the head is byte for byte the same', async (t) => {
  const { gateway } = await start(t, 'sqlite')
  const { account, secretKey } = await gateway.createAccount()
  const callFrom = async (localAddress: string) => {
    const request = get(`${gateway.url}/any/x`, { headers: { SecretKey: secretKey }, localAddress })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.resume()
    t.equal(response.statusCode, 200)
  }
  for (const address of ['127.0.0.1', '127.0.0.2', '127.0.0.1', '127.0.0.3']) {
    for (let times = 0; times < 4; times++) await callFrom(address)
    await statusWhen(gateway, account.id, ({ secretKey }) => secretKey.lastUse?.address === address)
  }
})

t.test('the last use of a key has its new time though the request is the same', async (t) => {
  const { gateway, callFrom } = await start(t, 'sqlite')
  const { account, secretKey } = await gateway.createAccount()
  t.equal(await callFrom('192.0.2.1', secretKey), 200)
  const first = await statusWhen(gateway, account.id, ({ secretKey }) => secretKey.lastUse !== undefined)
  const isLater = (at = 0) => at > (first.secretKey.lastUse?.at ?? 0)
  await until('a later use shows', async () => {
    t.equal(await callFrom('192.0.2.1', secretKey), 200)
    const { secretKey: key } = await gateway.operate(({ defaultKeys }) => defaultKeys.status(account.id))
    return isLater(key.lastUse?.at) || undefined
  })
})

for (const driver of storeDrivers) {
  t.test(`the last use of each key is recorded, on ${driver}`, async (t) => {
    const { gateway, callFrom } = await start(t, driver)
    const account = await gateway.createAccount()
    const { id } = account.account

    t.test('a key never used, or only refused, has no last use', async (t) => {
      t.equal(await callFrom('192.0.2.9', tamper(account.secretKey)), 401)
      const status = await gateway.operate(({ defaultKeys }) => defaultKeys.status(id))
      t.match(status, {
        secretKey: { lastUse: undefined, isRevealable: true },
        apiKey: { lastUse: undefined },
      })
      t.equal(status.previousSecretKey, undefined)
    })

    t.test('the last use of a secret key has time, address and its header', async (t) => {
      const before = Date.now()
      t.equal(await callFrom('192.0.2.1', account.secretKey), 200)
      t.equal(await callFrom('192.0.2.2', account.secretKey), 200)
      const { secretKey, apiKey } = await statusWhen(
        gateway,
        id,
        ({ secretKey }) => secretKey.lastUse?.address === '192.0.2.2',
      )
      t.match(secretKey.lastUse, { address: '192.0.2.2', scheme: 'secretKey' })
      t.ok((secretKey.lastUse?.at ?? 0) >= before)
      t.equal(apiKey.lastUse, undefined)
    })

    t.test('getting tokens is a use of both keys, using the tokens is none', async (t) => {
      const { JwtToken } = await gateway.tokens(account)
      const headers = { Authorization: `Bearer ${JwtToken}`, 'X-Forwarded-For': '203.0.113.5' }
      t.equal((await fetch(`${gateway.url}/any/x`, { headers })).status, 200)
      const status = await statusWhen(gateway, id, ({ apiKey }) => apiKey.lastUse !== undefined)
      for (const { lastUse } of [status.secretKey, status.apiKey]) {
        t.match(lastUse, { address: '127.0.0.1', scheme: 'accessToken' })
      }
    })

    t.test('during an overlap the old and the new key each have their own last use', async (t) => {
      const next = await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(id, 3_600))
      t.equal(await callFrom('192.0.2.10', account.secretKey), 200)
      t.equal(await callFrom('192.0.2.11', next), 200)
      const status = await statusWhen(gateway, id, ({ secretKey }) => secretKey.lastUse !== undefined)
      t.match(status.secretKey.lastUse, { address: '192.0.2.11' })
      t.match(status.previousSecretKey, { lastUse: { address: '192.0.2.10' } })
      t.equal(await gateway.operate(({ defaultKeys }) => defaultKeys.endOverlap(id)), true)
      await until('it is refused', async () => (await callFrom('192.0.2.10', account.secretKey)) === 401)
      t.equal(await callFrom('192.0.2.11', next), 200)
      t.equal(
        (await gateway.operate(({ defaultKeys }) => defaultKeys.status(id))).previousSecretKey,
        undefined,
      )
      t.equal(await gateway.operate(({ defaultKeys }) => defaultKeys.endOverlap(id)), false)
    })
  })

  t.test(`recorded uses of keys are written before the gateway ends, on ${driver}`, async (t) => {
    const { gateway, callFrom } = await start(t, driver)
    const { account, secretKey } = await gateway.createAccount()
    t.equal(await callFrom('192.0.2.77', secretKey), 200)
    await gateway.shutDown()
    const status = await gateway.operate(({ defaultKeys }) => defaultKeys.status(account.id))
    t.match(status.secretKey.lastUse, { address: '192.0.2.77' })
  })
}
