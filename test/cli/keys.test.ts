import t from 'tap'
import { startGateway, storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { run } from './run.ts'
import { createWorkspace, sealingKey } from './workspace.ts'

const accessTokenPath = '/api/v1/accounts/access-token'

for (const driver of storeDrivers) {
  t.test(`keys commands beside a running gateway on ${driver}`, async (t) => {
    const gateway = await startGateway(t, { driver })
    const { account, secretKey, apiKey } = await gateway.createAccount()
    const gatehouse = (...args: readonly string[]) => run(t, [...args, '--config', gateway.configFile])
    // The backend is down: 502 means authenticated, 401 rejected.
    const statusOf = async (key: string) => {
      const { status } = await fetch(`${gateway.url}/key`, { headers: { SecretKey: key } })
      return status
    }
    let current = secretKey

    t.test('show prints both keys again, for people and as exactly two members', async (t) => {
      const asJson = await gatehouse('keys', 'show', account.email, '--json')
      t.equal(asJson.status, 0)
      t.strictSame(asJson.json(), { secretKey, apiKey })
      const { stdout } = await gatehouse('keys', 'show', account.id)
      t.equal(stdout, `  Secret key  ${secretKey}\n  API key     ${apiKey}\n`)
    })

    t.test('reset-secret with a grace keeps the old key beside the new one', async (t) => {
      const outcome = await gatehouse('keys', 'reset-secret', account.email, '--grace', '24h')
      t.equal(outcome.status, 0)
      t.match(outcome.stdout, /^New secret key:\n {2}gsk_\w+\nThe old key stays valid for 24h\.\n$/)
      const [replacement = ''] = /gsk_\w+/.exec(outcome.stdout) ?? []
      t.not(replacement, secretKey)
      await until('the new key works', async () => (await statusOf(replacement)) === 502 || undefined)
      t.equal(await statusOf(secretKey), 502)
      current = replacement
    })

    t.test('reset-secret without a grace has every older key refused at once', async (t) => {
      const outcome = await gatehouse('keys', 'reset-secret', account.email, '--json')
      t.equal(outcome.status, 0)
      t.strictSame(Object.keys(outcome.json() as object), ['secretKey'])
      const replacement = (outcome.json() as { readonly secretKey: string }).secretKey
      await until('the new key works', async () => (await statusOf(replacement)) === 502 || undefined)
      t.equal(await statusOf(current), 401)
      t.equal(await statusOf(secretKey), 401, 'also the one whose grace has not ended')
      current = replacement
    })

    t.test('after reset-api only the new API key gets tokens', async (t) => {
      const outcome = await gatehouse('keys', 'reset-api', account.id, '--json')
      t.equal(outcome.status, 0)
      t.strictSame(Object.keys(outcome.json() as object), ['apiKey'])
      const replacement = (outcome.json() as { readonly apiKey: string }).apiKey
      t.match(replacement, new RegExp(`^gak_${account.id}_`))
      const statusWith = async (APIKey: string) =>
        (await gateway.post(accessTokenPath, { SecretKey: current, APIKey })).status
      await until('the new key works', async () => (await statusWith(replacement)) === 200 || undefined)
      t.equal(await statusWith(apiKey), 401)
      const { stdout } = await gatehouse('keys', 'reset-api', account.id)
      t.match(stdout, /^New API key:\n {2}gak_\w+\nThe old key is revoked\.\n$/)
    })

    t.test('keys show prints the current keys', async (t) => {
      const shown = (await gatehouse('keys', 'show', account.id, '--json')).json()
      t.match(shown, { secretKey: current, apiKey: /^gak_/ })
      t.notMatch(shown, { apiKey })
    })
  })
}

t.test('a grace may be from zero to 30 days', async (t) => {
  const { run } = createWorkspace(t)
  await run('accounts', 'create', '--email', 'ada@example.com')
  for (const grace of ['0s', '1ms', '1500ms', '30d', '720h']) {
    t.match(await run('keys', 'reset-secret', 'ada@example.com', '--grace', grace), { status: 0 }, grace)
  }
})

t.test('without sealed copies a key is shown once, at creation', async (t) => {
  const { run } = createWorkspace(t, { keys: { sealingKey: { file: 'sealing.key' }, reveal: false } })
  t.match(await run('accounts', 'create', '--email', 'ada@example.com'), { stdout: /gsk_\w+\n.*gak_\w+/ })
  const { status, stdout, stderr } = await run('keys', 'show', 'ada@example.com', '--json')
  t.equal(status, 1)
  t.equal(stdout, '')
  t.match(stderr, /^gatehouse: these keys cannot be shown again\n.*keys\.reveal: false/)
})

t.test('keys show with another sealing key says why it cannot', async (t) => {
  const { run } = createWorkspace(t, {}, { 'other.key': sealingKey })
  await run('accounts', 'create', '--email', 'ada@example.com')
  const outcome = await run('keys', 'show', 'ada@example.com', '--set', 'keys.sealingKey.file=other.key')
  t.equal(outcome.status, 1)
  t.equal(outcome.stdout, '')
  t.match(outcome.stderr, /another sealing key.*gatehouse keys reset-secret/)
})
