import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { ask } from './support/ask.ts'
import { reloadWith, taken } from './support/reload.ts'

t.test('a reload changes where keys may come, for repeated heads and cached refusals too', async (t) => {
  const { backend, gateway } = await startBoth(t)
  const { account, secretKey } = await gateway.createAccount({ role: 'Admin' })
  const client = await connectRaw(t, gateway.url)
  const accept = (...places: readonly string[]) =>
    reloadWith(gateway, { keys: { sealingKey: { file: 'sealing.key' }, accept: places } })

  /** The same bytes each time, on one connection: the gateway has read their head before. */
  async function statusesOf(field: string): Promise<number[]> {
    const statuses: number[] = []
    for (let turn = 0; turn < 4; turn++) {
      const response = await client.send(`GET /any HTTP/1.1\r\nHost: x\r\n${field}\r\n\r\n`).response()
      statuses.push(response.status)
    }
    return statuses
  }

  const old = `SecretKey: ${secretKey}`
  const password = `Authorization: Basic ${Buffer.from(`a:${secretKey}`).toString('base64')}`
  const admin = async () =>
    (await ask(t, gateway.url, 'GET /api/v1/admin/accounts')).headers['www-authenticate']
  const [key, token, basic] = ['SecretKey', 'Bearer', 'Basic'].map((scheme) => `${scheme} realm="gatehouse"`)

  t.strictSame(await statusesOf(old), [200, 200, 200, 200])
  t.strictSame(await statusesOf(password), [401, 401, 401, 401])
  for (let turn = 0; turn < 2; turn++) t.equal(await admin(), `${key}\n${token}`)
  t.strictSame(await accept('basic'), taken)
  t.strictSame(await statusesOf(old), [401, 401, 401, 401])
  t.strictSame(await statusesOf(password), [200, 200, 200, 200])
  t.equal(backend.last().headers['x-user-id'], account.id)
  for (let turn = 0; turn < 2; turn++) t.equal(await admin(), `${key}\n${basic}\n${token}`)
  t.strictSame(await accept('SecretKey'), taken)
  t.strictSame(await statusesOf(old), [200, 200, 200, 200])
  t.strictSame(await statusesOf(password), [401, 401, 401, 401])
})

t.test('a reload changes the prefix of new keys, and earlier ones keep working', async (t) => {
  const gateway = await startBoth(t)
  const admin = await gateway.createAccount({ role: 'Admin' })
  const keys = [admin.secretKey]
  for (const prefix of ['acme', 'a0123456789abcde', 'gate']) {
    await reloadWith(gateway, { keys: { sealingKey: { file: 'sealing.key' }, prefix } })
    const response = await fetch(`${gateway.url}/api/v1/admin/accounts`, {
      method: 'POST',
      headers: { SecretKey: admin.secretKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: `${prefix}@example.com`, firstName: '', lastName: '', role: 'User' }),
    })
    const { secretKey, apiKey } = (await response.json()) as { secretKey: string; apiKey: string }
    t.ok(secretKey.startsWith(`${prefix}_sk_`))
    t.ok(apiKey.startsWith(`${prefix}_ak_`))
    keys.push(secretKey)
    for (const each of keys)
      t.equal((await ask(t, gateway.url, 'GET /key', [`SecretKey: ${each}`])).status, 200)
    const pair = await gateway.post('/api/v1/accounts/access-token', { SecretKey: secretKey, APIKey: apiKey })
    t.equal(pair.status, 200)
  }
})
