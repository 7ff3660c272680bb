import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import type { KeyPattern } from '#platform/secrets/key-format.ts'
import { startGateway, storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { createOldKey } from '../setup/old-keys.ts'
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
      t.match(outcome.stdout, /^New secret key:\n {2}gate_sk_\w+\nThe old key stays valid for 24h\.\n$/)
      const [replacement = ''] = /gate_sk_\w+/.exec(outcome.stdout) ?? []
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

    t.test('show and reset-secret say so if the key was revoked', async (t) => {
      t.equal((await gatehouse('keys', 'revoke', account.id, 'default', '--yes')).status, 0)
      const shown = await gatehouse('keys', 'show', account.id)
      t.match(shown, { status: 1, stdout: '' })
      t.match(
        shown.stderr,
        /^gatehouse: the account has no default secret key: it was revoked\n.*gatehouse keys reset-secret/,
      )
      const { stdout } = await gatehouse('keys', 'reset-secret', account.email, '--grace', '1h')
      t.match(stdout, /^New secret key:\n {2}gate_sk_\w+\nThere was no key to replace\.\n$/)
      current = /gate_sk_\w+/.exec(stdout)?.[0] ?? ''
    })

    t.test('after reset-api only the new API key gets tokens', async (t) => {
      const outcome = await gatehouse('keys', 'reset-api', account.id, '--json')
      t.equal(outcome.status, 0)
      t.strictSame(Object.keys(outcome.json() as object), ['apiKey'])
      const replacement = (outcome.json() as { readonly apiKey: string }).apiKey
      t.match(replacement, new RegExp(`^gate_ak_${account.id}_`))
      const statusWith = async (APIKey: string) =>
        (await gateway.post(accessTokenPath, { SecretKey: current, APIKey })).status
      await until('the new key works', async () => (await statusWith(replacement)) === 200 || undefined)
      t.equal(await statusWith(apiKey), 401)
      const { stdout } = await gatehouse('keys', 'reset-api', account.id)
      t.match(stdout, /^New API key:\n {2}gate_ak_\w+\nThe old key is revoked\.\n$/)
    })

    t.test('keys show prints the current keys', async (t) => {
      const shown = (await gatehouse('keys', 'show', account.id, '--json')).json()
      t.match(shown, { secretKey: current, apiKey: /^gate_ak_/ })
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
  t.match(await run('accounts', 'create', '--email', 'ada@example.com'), {
    stdout: /gate_sk_\w+\n.*gate_ak_\w+/,
  })
  const { status, stdout, stderr } = await run('keys', 'show', 'ada@example.com', '--json')
  t.equal(status, 1)
  t.equal(stdout, '')
  t.match(stderr, /^gatehouse: these keys cannot be shown again\n.*keys\.reveal: false/)
})

t.test('if one key cannot be shown again, the command that resets it is named', async (t) => {
  const { run } = createWorkspace(t)
  const email = 'ada@example.com'
  await run('accounts', 'create', '--email', email, '--set', 'keys.reveal=false')
  const both = await run('keys', 'show', email)
  t.match(both.stderr, 'these keys cannot be shown again')
  t.match(both.stderr, 'Reset them: gatehouse keys reset-secret and gatehouse keys reset-api\n')
  await run('keys', 'reset-secret', email)
  const { stderr } = await run('keys', 'show', email)
  t.match(stderr, 'the API key cannot be shown again')
  t.match(stderr, 'Reset it: gatehouse keys reset-api\n')
  await run('keys', 'reset-api', email)
  t.match(await run('keys', 'show', email), { status: 0 })
  await run('keys', 'reset-secret', email, '--set', 'keys.reveal=false')
  const last = await run('keys', 'show', email)
  t.match(last.stderr, 'the secret key cannot be shown again')
  t.match(last.stderr, 'Reset it: gatehouse keys reset-secret\n')
})

t.test('reset-secret says that it ends a revoked key that still worked', async (t) => {
  const { run } = createWorkspace(t)
  const email = 'ada@example.com'
  await run('accounts', 'create', '--email', email)
  await run('keys', 'revoke', email, 'default', '--grace', '1h')
  const { stdout } = await run('keys', 'reset-secret', email, '--grace', '1h')
  t.match(stdout, /\nThe revoked key, which still worked, no longer does\.\n$/)
})

t.test('keys sealed before keys.reveal became false are shown again only once it is true', async (t) => {
  const { run } = createWorkspace(t)
  await run('accounts', 'create', '--email', 'ada@example.com')
  const show = (...args: readonly string[]) => run('keys', 'show', 'ada@example.com', ...args)
  const refused = await show('--set', 'keys.reveal=false')
  t.match(refused, { status: 1, stdout: '' })
  t.match(
    refused.stderr,
    /^gatehouse: these keys cannot be shown again\n.*The config has keys\.reveal: false\./,
  )
  t.match(await show(), { status: 0, stdout: /gate_sk_\w+\n.*gate_ak_\w+/ })
})

t.test('keys show with another sealing key says why it cannot', async (t) => {
  const { run } = createWorkspace(t, {}, { 'other.key': sealingKey })
  await run('accounts', 'create', '--email', 'ada@example.com')
  const outcome = await run('keys', 'show', 'ada@example.com', '--set', 'keys.sealingKey.file=other.key')
  t.equal(outcome.status, 1)
  t.equal(outcome.stdout, '')
  t.match(outcome.stderr, /another sealing key.*gatehouse keys reset-secret/)
})

t.test('keys pattern prints expressions that find keys of the prefix and of the old form', async (t) => {
  const { run } = createWorkspace(t, { keys: { sealingKey: { file: 'sealing.key' }, prefix: 'acme' } })
  const { stdout, status } = await run('keys', 'pattern')
  t.equal(status, 0)
  const patterns = stdout.trim().split('\n')
  const created = (
    await run('accounts', 'create', '--email', 'ada@example.com', '--json')
  ).json() as Readonly<Record<string, string>>
  const { id = '' } = created
  const { secretKey, apiKey } = created
  const keys = [secretKey, apiKey, createOldKey('secretKey', id), createOldKey('apiKey', id)]
  t.match(created, { secretKey: /^acme_sk_/, apiKey: /^acme_ak_/ })
  for (const [index, key] of keys.entries()) {
    const text = `TOKEN="${key}" # a key`
    t.strictSame(
      patterns.map((pattern) => new RegExp(pattern).exec(text)?.[0] === key),
      keys.map((_, other) => other === index),
    )
    const found = await promisify(execFile)('grep', ['-oE', patterns[index] ?? '', fileWith(t, text)])
    t.equal(found.stdout.trim(), key)
  }
  const { patterns: asData } = (await run('keys', 'pattern', '--json')).json() as { patterns: KeyPattern[] }
  t.strictSame(
    asData.map(({ pattern }) => pattern),
    patterns,
  )
  t.strictSame(
    asData.map(({ kind, prefix }) => [kind, prefix]),
    [
      ['secretKey', 'acme_sk'],
      ['apiKey', 'acme_ak'],
      ['secretKey', 'gsk'],
      ['apiKey', 'gak'],
    ],
  )
})

function fileWith(t: Test, text: string): string {
  const folder = t.testdir({ text })
  return `${folder}/text`
}
