import t, { type Test } from 'tap'
import type { CreatedAccount } from '#accounts/accounts.ts'
import { reloadWith, taken } from '../gateway/support/reload.ts'
import { startBackend } from '../setup/backend.ts'
import { notInApp, startGateway, storeDrivers, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw, type RawClient } from '../setup/raw-client.ts'

/** Sends these very bytes once more. @returns the status */
async function send(client: RawClient, line: string): Promise<number> {
  client.send(`GET /any HTTP/1.1\r\nHost: gateway.test\r\n${line}\r\n\r\n`)
  return (await client.response()).status
}

/** Sends them until they are surely known by heart. */
async function sendOften(t: Test, client: RawClient, line: string, status: number): Promise<void> {
  const statuses = new Set<number>()
  for (let times = 0; times < 20; times++) statuses.add(await send(client, line))
  t.strictSame([...statuses], [status])
}

type Change = (gateway: TestGateway, made: CreatedAccount) => Promise<unknown>

const changes: Readonly<Record<string, Change>> = {
  'a reset': ({ operate }, { account }) =>
    operate(({ defaultKeys }) => defaultKeys.resetSecretKey(account.id, 0)),
  'a disabling': ({ operate }, { account }) =>
    operate(({ accounts }) => accounts.update(account.id, { isDisabled: true })),
  'a deletion': ({ operate }, { account }) => operate(({ accounts }) => accounts.remove(account.id)),
}

for (const driver of storeDrivers) {
  t.test(`repeated heads on ${driver}`, async (t) => {
    const gateway = await startGateway(t, { backend: (await startBackend(t)).url, driver })

    for (const [name, change] of Object.entries(changes)) {
      t.test(`${name} refuses a repeated head that passed before`, async (t) => {
        const made = await gateway.createAccount()
        const { JwtToken } = await gateway.tokens(made)
        const client = await connectRaw(t, gateway.url)
        const lines = [`SecretKey: ${made.secretKey}`, `Authorization: Bearer ${JwtToken}`]
        for (const line of lines) await sendOften(t, client, line, 200)
        await change(gateway, made)
        for (const line of lines) {
          const status = await until('it is refused', async () => {
            const now = await send(client, line)
            return now === 200 ? undefined : now
          })
          t.equal(status, name === 'a disabling' && line === lines[0] ? 403 : 401)
          await sendOften(t, client, line, status)
        }
      })
    }

    t.test('the retirement of its signing key refuses a repeated head', async (t) => {
      const { JwtToken } = await gateway.tokens(await gateway.createAccount())
      const client = await connectRaw(t, gateway.url)
      const line = `Authorization: Bearer ${JwtToken}`
      await sendOften(t, client, line, 200)
      const old = await gateway.operate(async ({ signingKeys }) => {
        const [key] = await signingKeys.load()
        await signingKeys.rotate('now')
        return key?.kid ?? ''
      })
      await sendOften(t, client, line, 200)
      await gateway.operate(({ signingKeys }) => signingKeys.retire(old))
      await until('it is refused', async () => (await send(client, line)) === 401 || undefined)
      await sendOften(t, client, line, 401)
    })
  })
}

t.test('a token expires though its head was just repeated', async (t) => {
  const time = { now: Date.now() }
  const config = { tokens: { accessLifetime: '10m', clockTolerance: '0s' } }
  const gateway = await startGateway(t, {
    backend: (await startBackend(t)).url,
    config,
    clock: () => time.now,
  })
  const { JwtToken } = await gateway.tokens(await gateway.createAccount())
  const { exp } = JSON.parse(Buffer.from(JwtToken.split('.')[1] ?? '', 'base64url').toString())
  const client = await connectRaw(t, gateway.url)
  const line = `Authorization: Bearer ${JwtToken}`
  await sendOften(t, client, line, 200)
  time.now = exp * 1_000 - 1
  await sendOften(t, client, line, 200)
  time.now++
  await sendOften(t, client, line, 401)
})

const noReload = { skip: notInApp('an app has no reload') }

t.test('a reload decides a repeated head by the new routes', noReload, async (t) => {
  const gateway = await startGateway(t, { backend: (await startBackend(t)).url })
  const { secretKey } = await gateway.createAccount()
  const client = await connectRaw(t, gateway.url)
  const line = `SecretKey: ${secretKey}`
  const route = (auth: string) => ({ name: 'r', path: '/any', upstream: 'backend', auth })
  await sendOften(t, client, line, 200)
  t.match(await reloadWith(gateway, { routes: [route('bearer')] }), taken)
  await sendOften(t, client, line, 401)
  t.match(await reloadWith(gateway, { routes: [route('secretKey')] }), taken)
  await sendOften(t, client, line, 200)
})
