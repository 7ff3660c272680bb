import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { startGateway, storeDrivers } from '../setup/gateway.ts'
import { startMailServer } from '../setup/mail-server.ts'
import { until } from '../setup/net.ts'
import { ask, askJson } from './support/ask.ts'
import { addKey } from './support/further-keys.ts'
import { assertProblem } from './support/problem.ts'

const path = '/api/v1/keys/revoke'

const mailConfig = (port: number) => ({
  mail: { host: '127.0.0.1', port, security: 'none', from: 'gatehouse@example.com' },
})

async function statusWith(t: Test, url: string, secretKey: string) {
  return (await ask(t, url, 'GET /key', [`SecretKey: ${secretKey}`])).status
}

for (const driver of storeDrivers) {
  t.test(`${driver}: whoever holds a secret key ends it alone, and its owner is told`, async (t) => {
    const { port, mails } = await startMailServer(t)
    const config = mailConfig(port)
    const { backend, gateway } = await startBoth(t, { driver, config })
    const { redis } = gateway
    const other = redis && (await startGateway(t, { backend: backend.url, driver, redis }))
    const instances = [gateway, ...(other ? [other] : [])]
    const created = await gateway.createAccount({ email: 'ada@example.com' })
    const key = await addKey(gateway, created.account.id, { name: 'ci' })
    const { JwtToken } = await gateway.tokens({ ...created, secretKey: key })
    for (const { url } of instances) t.equal(await statusWith(t, url, key), 200)

    const response = await askJson(t, gateway.url, path, { key })
    t.equal(response.status, 200)
    t.strictSame(response.json(), {})
    t.equal(await statusWith(t, gateway.url, key), 401, 'at once')
    const ofToken = await ask(t, gateway.url, 'GET /bearer', [`Authorization: Bearer ${JwtToken}`])
    assertProblem(t, ofToken, { status: 401, code: 'token-revoked' })
    if (other)
      await until('the other instance refuses it', async () => (await statusWith(t, other.url, key)) === 401)
    for (const { url } of instances) t.equal(await statusWith(t, url, created.secretKey), 200, 'no other')

    await until('a mail', () => mails.length === 1)
    const mail = mails.join('').replaceAll('=\r\n', '')
    t.match(mail, /^To: ada@example\.com\r$/m)
    t.match(mail, 'secret key "ci"')
    t.notMatch(mail, key)
    const entries = await gateway.operate(({ store }) =>
      store.findAudit({
        filter: { action: 'secret-key-revoked', who: undefined },
        before: undefined,
        limit: 9,
      }),
    )
    t.match(entries.entries, [{ actor: { kind: 'holder', address: '127.0.0.1' }, details: { name: 'ci' } }])
    t.notMatch(JSON.stringify(entries), key)
    t.notMatch(gateway.logLines.join(''), key)
  })
}

t.test('a key within the overlap of a reset ends, and the new one stays', async (t) => {
  const gateway = await startBoth(t)
  const { account, secretKey: old } = await gateway.createAccount()
  const next = await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(account.id, 3_600))
  t.equal((await askJson(t, gateway.url, path, { key: old })).status, 200)
  t.equal(await statusWith(t, gateway.url, old), 401)
  t.equal(await statusWith(t, gateway.url, next), 200)
  t.equal((await askJson(t, gateway.url, path, { key: next })).status, 200)
  t.equal(await statusWith(t, gateway.url, next), 401, 'the default key ends too')
})

t.test('an API key is replaced: the pair with it gets no tokens any more', async (t) => {
  const gateway = await startGateway(t)
  const created = await gateway.createAccount()
  t.equal((await askJson(t, gateway.url, path, { key: created.apiKey })).status, 200)
  await t.rejects(gateway.tokens(created), /credentials-invalid/)
  const apiKey = await gateway.operate(({ defaultKeys }) => defaultKeys.reveal(created.account.id, 'apiKey'))
  t.ok((await gateway.tokens({ ...created, apiKey: apiKey ?? '' })).JwtToken, 'the new one is in the portal')
})

t.test('any text is answered alike, and what holds no text is refused', async (t) => {
  const gateway = await startGateway(t)
  for (const key of ['', 'x', 'gsk_', `gate_sk_${'a'.repeat(90)}`, '\u{1f600}', 'a'.repeat(60_000)]) {
    const response = await askJson(t, gateway.url, path, { key })
    t.equal(response.status, 200)
    t.strictSame(response.json(), {})
  }
  for (const body of [{}, { key: 1 }, { key: null }, [], 'text', null]) {
    assertProblem(t, await askJson(t, gateway.url, path, body), { status: 400, code: 'request-invalid' })
  }
})

t.test('every call counts towards the failure limit, that with a key too', async (t) => {
  const limits = { failures: { limit: 3, per: '1h' } }
  const gateway = await startBoth(t, { config: { limits } })
  const { secretKey } = await gateway.createAccount()
  for (const key of ['x', 'y', 'z']) t.equal((await askJson(t, gateway.url, path, { key })).status, 200)
  for (let over = 0; over < 5; over++) {
    const response = await askJson(t, gateway.url, path, { key: secretKey })
    assertProblem(t, response, { status: 429, code: 'too-many-failures' })
  }
  t.equal(await statusWith(t, gateway.url, secretKey), 200, 'it was not revoked')
})

t.test('a mail that is not accepted is logged, and the key ends all the same', async (t) => {
  const gateway = await startGateway(t, { config: mailConfig(1) })
  const { secretKey } = await gateway.createAccount()
  t.equal((await askJson(t, gateway.url, path, { key: secretKey })).status, 200)
  t.equal(await statusWith(t, gateway.url, secretKey), 401)
  await until('a log line', () => gateway.logLines.some((line) => line.includes('could not be sent')))
})

t.test('a shutdown waits for the mail', async (t) => {
  const { port, mails } = await startMailServer(t)
  const gateway = await startGateway(t, { config: mailConfig(port) })
  const { secretKey } = await gateway.createAccount()
  t.equal((await askJson(t, gateway.url, path, { key: secretKey })).status, 200)
  await gateway.shutDown()
  t.equal(mails.length, 1)
})
