import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createWorkspace } from './workspace.ts'

// The other tests run commands in the test process: here each runs once as the real program.
const { config, folder, runProgram } = createWorkspace(t)
const ada = 'ada@example.com'

/** Runs a command that prints data, to its JSON. */
async function json(...args: readonly string[]): Promise<unknown> {
  const outcome = await runProgram(...args, '--json')
  t.equal(outcome.status, 0, args.join(' '))
  t.equal(outcome.stderr, '', args.join(' '))
  return outcome.json()
}

t.test('the program creates, imports, lists, shows, updates and deletes accounts', async (t) => {
  const created = await json('accounts', 'create', '--email', ada, '--role', 'Auditor')
  t.match(created, { email: ada, role: 'Auditor', secretKey: /^gate_sk_/, apiKey: /^gate_ak_/ })
  writeFileSync(join(folder, 'people.csv'), 'email\nbob@example.com\n')
  t.match(await json('accounts', 'import', 'people.csv'), [{ email: 'bob@example.com' }])
  t.match(await json('accounts', 'update', ada, '--disabled', 'true'), { email: ada, disabled: true })
  t.match(await json('accounts', 'show', ada), { email: ada, role: 'Auditor', disabled: true })
  t.match(await json('accounts', 'delete', 'bob@example.com'), { id: /^\w{16}$/ })
  t.match(await json('accounts', 'list'), [{ email: ada }])
})

t.test('the program manages keys and sessions of an account', async (t) => {
  const { secretKey } = (await json('keys', 'reset-secret', ada, '--grace', '1h')) as { secretKey: string }
  const { apiKey } = (await json('keys', 'reset-api', ada)) as { apiKey: string }
  t.strictSame(await json('keys', 'show', ada), { secretKey, apiKey })
  t.strictSame(await json('sessions', 'list', ada), [])
  t.strictSame(await json('sessions', 'revoke', ada), { revoked: [] })
})

t.test('the program manages signing keys', async (t) => {
  const { kid } = (await json('signing-keys', 'rotate', '--now')) as { kid: string }
  const keys = (await json('signing-keys', 'list')) as readonly { kid: string; state: string }[]
  t.equal(keys.find(({ state }) => state === 'signing')?.kid, kid)
  const other = keys.find(({ state }) => state !== 'signing')?.kid ?? ''
  t.strictSame(await json('signing-keys', 'retire', other), { kid: other })
})

t.test('the program checks, shows and describes the config', async (t) => {
  t.match(await json('check'), { file: config, valid: true, problems: [] })
  t.match(await json('config', 'schema'), { title: 'Gatehouse config' })
  const options = (await json('config', 'show')) as readonly { path: string; value: unknown }[]
  t.strictSame(options.find(({ path }) => path === 'keys.sealingKey')?.value, '[secret]')
})

t.test('a failed command exits with 1, bad usage with 2, both without a stack trace', async (t) => {
  t.match(await runProgram('accounts', 'show', 'nobody@example.com'), { status: 1, stdout: '' })
  t.match(await runProgram('accounts', 'show'), { status: 2, stdout: '' })
})
