import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { applyMax } from '#accounts/apply/desired-state.ts'
import { createWorkspace, createWorkspaceOn } from './workspace.ts'

const plans = { pro: { quota: { limit: 1_000, per: 'day' } } }
const accounts = `
accounts:
  - email: ada@example.com
    role: Admin
    keys:
      - name: ci
        scopes: [orders:read]
        quota: { limit: 100, per: day }
  - email: bob@example.com
`

t.test('a file is shown, applied, and then matches the store', async (t) => {
  const { folder, run, runWith } = createWorkspace(t, { plans }, { 'accounts.yaml': accounts })
  const file = join(folder, 'accounts.yaml')
  const dry = await run('apply', file, '--dry-run')
  const lines = [
    '+ account ada@example.com  role: Admin, managedBy: default',
    '+ account bob@example.com  role: User, managedBy: default',
    '+ key ada@example.com ci  scopes: orders:read, quota: 100/day',
  ]
  t.strictSame(dry, {
    ...dry,
    status: 0,
    stdout: [...lines, '3 changes to make; nothing was changed.', ''].join('\n'),
    stderr: '',
  })
  const done = await run('apply', file)
  t.equal(done.status, 0)
  t.match(
    done.stdout,
    [...lines, '3 changes made.', 'New keys. Save them: they are not shown again.'].join('\n'),
  )
  t.match(done.stdout, /^ada@example\.com +ci +gate_sk_\S+ +-$/m)
  t.match(done.stdout, /^bob@example\.com +default +gate_sk_\S+ +gate_ak_\S+$/m)
  const again = await run('apply', file)
  t.equal(again.stdout, `Everything already matches ${file}; nothing was changed.\n`)
  const changed = accounts.replace('100', '200').replace('role: Admin', 'plan: pro')
  t.equal(
    (await runWith(changed, 'apply', '-')).stdout,
    [
      '~ account ada@example.com  plan: none -> pro',
      '~ key ada@example.com ci  quota: 100/day -> 200/day',
      '2 changes made.\n',
    ].join('\n'),
  )
  const json = await runWith(
    JSON.stringify({ accounts: [{ email: 'bob@example.com' }] }),
    'apply',
    '-',
    '--json',
  )
  t.strictSame(json.json(), {
    dryRun: false,
    complete: true,
    changes: [],
    unchanged: 1,
    keys: [],
    failure: null,
  })
})

for (const driver of ['sqlite', 'redis'] as const) {
  t.test(`new keys are written to a new file, on ${driver}`, async (t) => {
    const { folder, run, runWith } = await createWorkspaceOn(t, driver)
    const keysFile = join(folder, 'keys.jsonl')
    const apply = (...args: readonly string[]) =>
      runWith(accounts, 'apply', '-', '--keys-out', keysFile, ...args)
    t.equal((await apply('--dry-run')).status, 0)
    t.notOk(existsSync(keysFile), 'a dry run writes none')
    const done = await apply()
    t.match(done, { status: 0, stderr: '' })
    t.match(done.stdout, `The new keys are in ${keysFile}.`)
    t.notMatch(done.stdout, /gate_[sa]k_/)
    t.equal(statSync(keysFile).mode & 0o777, 0o600)
    const keys = readFileSync(keysFile, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    t.strictSame(
      keys.map(({ account, name, apiKey }) => [account, name, apiKey !== undefined]),
      [
        ['ada@example.com', 'default', true],
        ['bob@example.com', 'default', true],
        ['ada@example.com', 'ci', false],
      ],
    )
    t.match(JSON.parse((await run('keys', 'list', 'ada@example.com', '--json')).stdout)[1], {
      name: 'ci',
      lastFour: keys[2].secretKey.slice(-4),
    })
    t.equal((await apply()).status, 0, 'without new keys the file is left alone')
    const more = `${accounts}  - email: cyd@example.com\n`
    const refused = await runWith(more, 'apply', '-', '--keys-out', keysFile)
    t.match(refused, { status: 1, stderr: /keys\.jsonl exists, and may have keys/ })
    t.equal((await run('accounts', 'show', 'cyd@example.com')).status, 1, 'nothing was changed')
    const shown = await runWith(more, 'apply', '-', '--keys-out', join(folder, 'more.jsonl'), '--json')
    t.match(shown.json(), { complete: true, keys: [] })
    t.notMatch(shown.stdout, /gate_[sa]k_/)
  })
}

t.test('every error is shown where it stands in the file', async (t) => {
  const { folder, run, runWith } = createWorkspace(t, { plans })
  const file = join(folder, 'wrong.yaml')
  writeFileSync(
    file,
    `accounts:
  - email: ada@example.com
    plan: gold
    keys:
      - name: ci
        expires: never
      - name: ci
        digest: abcd
  - email: 7
`,
  )
  const { status, stderr } = await run('apply', file)
  t.equal(status, 1)
  t.match(stderr, `${file} is invalid; nothing was changed:`)
  for (const line of [
    '3:11  accounts[0].plan: unknown plan: must be one of pro',
    '6:18  accounts[0].keys[0].expires: is unknown',
    '7:15  accounts[0].keys[1].name: repeats accounts[0].keys[0].name',
    '8:17  accounts[0].keys[1].digest: must be a SHA-256',
    '9:12  accounts[1].email: must be string',
  ])
    t.match(stderr, `${file}:${line}`)
  const over = 'accounts: [{ email: ada@example.com, keys: [{ name: ci, expiresAt: 2020-01-01T00:00:00Z }] }]'
  t.match(
    (await runWith(over, 'apply', '-')).stderr,
    'standard input:1:68  accounts[0].keys[0].expiresAt: must be',
  )
  for (const [text, message] of [
    ['accounts: [', /standard input is invalid; nothing was changed:\n +standard input:1:/],
    ['accounts: []\naccounts: []', /duplicate|twice|more than once/],
    ['- a', /must be a map/],
    ['', /accounts: is missing/],
    [Buffer.from([0x61, 0xff]), /cannot read standard input: it is not UTF-8/],
    ['x'.repeat(8 * 1_048_576 + 1), /cannot read standard input: it is larger than 8 MiB/],
  ] as const)
    t.match(await runWith([text], 'apply', '-'), { status: 1, stdout: '', stderr: message })
  t.match(await run('apply', 'nothing.yaml'), {
    status: 1,
    stderr: /cannot read nothing\.yaml: .*ENOENT|no such file/,
  })
  const many = JSON.stringify({
    accounts: Array.from({ length: applyMax.command + 1 }, (_, index) => ({
      email: `u${index}@example.com`,
    })),
  })
  t.match(
    (await runWith(many, 'apply', '-')).stderr,
    `accounts: must be at most ${applyMax.command} accounts`,
  )
})

t.test('pruning too much is refused, with the way out', async (t) => {
  const { runWith } = createWorkspace(t)
  await runWith(accounts, 'apply', '-')
  const less = 'accounts: [{ email: ada@example.com, keys: [] }]'
  const refused = await runWith(less, 'apply', '-', '--prune')
  t.equal(refused.status, 1)
  t.match(
    refused.stderr,
    '1 of 2 accounts would be disabled and 1 of 1 keys revoked, more than half: to do it, allow 2',
  )
  t.match(refused.stderr, 'See --prune-max in gatehouse apply --help.')
  const done = await runWith(less, 'apply', '-', '--prune', '--prune-max', '2')
  t.equal(
    done.stdout,
    '- account bob@example.com  disabled: false -> true\n- key ada@example.com ci\n2 changes made.\n',
  )
  for (const args of [
    ['--prune-max', '1'],
    ['--prune', '--prune-max', '-1'],
    ['--prune', '--prune-max', 'all'],
  ])
    t.match(await runWith(less, 'apply', '-', ...args), { status: 2 })
})
