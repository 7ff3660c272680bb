import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeCertificate } from '../setup/certificates.ts'
import { startGateway, storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { run } from './run.ts'
import { createWorkspace } from './workspace.ts'

for (const driver of storeDrivers) {
  t.test(`further secret keys by commands, beside a running gateway on ${driver}`, async (t) => {
    const gateway = await startGateway(t, { driver })
    const { account, secretKey } = await gateway.createAccount()
    const gatehouse = (...args: readonly string[]) => run(t, [...args, '--config', gateway.configFile])
    // The backend is down: 502 means authenticated, 401 rejected.
    const statusOf = async (key: string) =>
      (await fetch(`${gateway.url}/key`, { headers: { SecretKey: key } })).status

    const created = await gatehouse('keys', 'create', account.email, '--name', 'ci', '--json')
    t.equal(created.status, 0)
    const ci = created.json() as { readonly secretKey: string }
    t.strictSame(Object.keys(ci), ['secretKey', 'name', 'scopes', 'addresses', 'quota', 'expiresAt'])
    t.match(ci, {
      secretKey: /^gate_sk_/,
      name: 'ci',
      scopes: [],
      addresses: [],
      quota: null,
      expiresAt: null,
    })
    await until('the new key works', async () => (await statusOf(ci.secretKey)) === 502 || undefined)

    const limited = await gatehouse(
      ...['keys', 'create', account.id, '--name', 'reports', '--expires', '90d'],
      ...['--scopes', 'orders:read,orders:list', '--from', '10.0.0.0/8,203.0.113.7', '--quota', '1000/day'],
    )
    t.equal(limited.status, 0)
    t.match(limited.stdout, /^Secret key created.*\n {2}gate_sk_\w+\n/)
    const keys = (await gatehouse('keys', 'list', account.email, '--json')).json() as object[]
    t.match(keys, [
      { name: 'default', state: 'valid', expiresAt: null, revokedAt: null, imported: false },
      { name: 'ci', state: 'valid', scopes: [], addresses: [] },
      {
        name: 'reports',
        scopes: ['orders:read', 'orders:list'],
        addresses: ['10.0.0.0/8', '203.0.113.7'],
        quota: { limit: 1_000, per: 'day' },
        expiresAt: /^20\d\d-.*Z$/,
        lastUsedAt: null,
      },
    ])
    const { stdout } = await gatehouse('keys', 'list', account.id)
    t.match(
      stdout,
      /^NAME +ENDS IN +STATE +SCOPES +FROM +QUOTA +CREATED +EXPIRES +LAST USED\ndefault +\w{4} +valid +- +- +- +20/,
    )
    t.match(
      stdout,
      /\nreports +\w{4} +valid +orders:read,orders:list +10\.0\.0\.0\/8,203\.0\.113\.7 +1000\/day +20/,
    )
    t.notMatch(stdout, /gate_sk_/, 'no list shows a key')

    t.match(
      (await gatehouse('usage', account.id)).stdout,
      /^Key reports: 0 of 1000 requests this day, 1000 left/,
    )
    for (const quota of ['0/day', '1000', '10/week', '-1/day', '1e3/day', '1000000000001/month'])
      t.match(
        await gatehouse('keys', 'create', account.id, '--name', 'x', `--quota=${quota}`),
        {
          status: quota === '0/day' || quota.startsWith('1000000') ? 1 : 2,
          stderr: /--quota:? must be 1 to/,
        },
        quota,
      )

    const rotated = await gatehouse('keys', 'rotate', account.email, 'reports', '--json')
    const reports = rotated.json() as { readonly secretKey: string }
    t.match(reports, { name: 'reports', secretKey: /^gate_sk_/, graceSeconds: 3_600 })
    const afterwards = (await gatehouse('keys', 'list', account.email, '--json')).json() as object[]
    t.match(afterwards.slice(2), [
      { name: 'reports', revokedAt: /^20/, expiresAt: /^20/ },
      {
        name: 'reports',
        lastFour: reports.secretKey.slice(-4),
        scopes: ['orders:read', 'orders:list'],
        addresses: ['10.0.0.0/8', '203.0.113.7'],
        quota: { limit: 1_000, per: 'day' },
        expiresAt: /^20\d\d-.*Z$/,
        revokedAt: null,
      },
    ])
    t.match(await gatehouse('keys', 'rotate', account.email, 'default'), {
      status: 1,
      stderr: /NAME: "default" can only be reset/,
    })
    t.match(await gatehouse('keys', 'revoke', account.email, 'reports', '--yes'), { status: 0 })

    const later = await gatehouse('keys', 'revoke', account.id, 'ci', '--grace', '1h')
    t.match(later, { status: 0, stdout: 'Secret key ci stays valid for 1h.\n' })
    t.equal(await statusOf(ci.secretKey), 502)
    const now = await gatehouse('keys', 'revoke', account.id, 'ci', '--json')
    t.strictSame(now.json(), { name: 'ci', graceSeconds: 0 })
    await until('the key is refused', async () => (await statusOf(ci.secretKey)) === 401 || undefined)
    t.equal(await statusOf(secretKey), 502, 'the other keys work')

    const audit = (await gatehouse('audit', 'list', '--json')).json() as { readonly action: string }[]
    t.match(audit.map(({ action }) => action).slice(0, 4), [
      'secret-key-revoked',
      'secret-key-revoked',
      'secret-key-revoked',
      'secret-key-reset',
    ])
  })
}

t.test('no grace period outlasts the end that a key has anyway, nor is it said to', async (t) => {
  const { run } = createWorkspace(t)
  const who = 'ada@example.com'
  await run('accounts', 'create', '--email', who)
  const create = (name: string, ...more: readonly string[]) =>
    run('keys', 'create', who, '--name', name, ...more)
  const lastGrace = async (action: string) => {
    const entries = (await run('audit', 'list', '--action', action, '--limit', '1', '--json')).json()
    const [{ details }] = entries as [{ readonly details: { readonly graceSeconds: number } }]
    return details.graceSeconds
  }

  await create('twice')
  t.match((await run('keys', 'revoke', who, 'twice', '--grace', '5m')).stdout, / stays valid for 5m\.\n$/)
  const again = await run('keys', 'revoke', who, 'twice', '--grace', '24h')
  t.match(again.stdout, /^Secret key twice stays valid for [45] min, not 24h: it ends then anyway\.\n$/)
  t.ok((await lastGrace('secret-key-revoked')) <= 300)
  const { graceSeconds } = (await run('keys', 'revoke', who, 'twice', '--grace', '24h', '--json')).json() as {
    readonly graceSeconds: number
  }
  t.ok(graceSeconds > 0 && graceSeconds <= 300)
  const sooner = await run('keys', 'revoke', who, 'twice', '--grace', '1m', '--json')
  t.strictSame(sooner.json(), { name: 'twice', graceSeconds: 60 })

  await create('brief', '--expires', '5m')
  const rotated = await run('keys', 'rotate', who, 'brief', '--grace', '24h')
  t.match(rotated.stdout, /\nThe old one works for another [45] min, not 24h: it ends then anyway\.\n$/)
  t.ok((await lastGrace('secret-key-reset')) <= 300)

  await create('over', '--expires', '1s')
  await create('gone', '--expires', '1s')
  await until('both have expired', async () => {
    const keys = (await run('keys', 'list', who, '--json')).json() as { readonly state: string }[]
    return keys.filter(({ state }) => state === 'expired').length === 2 || undefined
  })
  t.match(
    (await run('keys', 'rotate', who, 'over')).stdout,
    /\nThe old one had expired already: it does not work\.\n$/,
  )
  t.equal(await lastGrace('secret-key-reset'), 0)
  const gone = await run('keys', 'revoke', who, 'gone', '--grace', '1h')
  t.equal(gone.stdout, 'Secret key gone had expired already: it does not work.\n')
  t.strictSame((await run('keys', 'revoke', who, 'gone', '--grace', '1h', '--json')).json(), {
    name: 'gone',
    graceSeconds: 0,
  })
})

t.test('the audit log has the same limits of a new key, however it was created', async (t) => {
  const { folder, run, runWith } = createWorkspace(t)
  await run('accounts', 'create', '--email', 'ada@example.com')
  const expiresAt = new Date(Math.floor(Date.now() / 1_000 + 86_400) * 1_000).toISOString()
  const limits = ['--scopes', 'orders:read', '--from', '10.0.0.0/8', '--quota', '1000/day']
  const create = (name: string, ...more: readonly string[]) =>
    run('keys', 'create', 'ada@example.com', '--name', name, '--expires', '1d', ...limits, ...more)
  t.match(await create('by-command'), { status: 0 })
  const pem = join(folder, 'ada.pem')
  writeFileSync(pem, makeCertificate(t, 'DNS:ada').cert)
  t.match(await create('certificate', '--certificate', pem), { status: 0 })
  const quota = { limit: 1_000, per: 'day' }
  const key = { name: 'by-file', scopes: ['orders:read'], addresses: ['10.0.0.0/8'], quota, expiresAt }
  const state = JSON.stringify({ accounts: [{ email: 'ada@example.com', keys: [key] }] })
  t.match(await runWith([state], 'apply', '-'), { status: 0 })
  const audit = await run('audit', 'list', '--action', 'secret-key-created', '--json')
  const same = { scopes: 'orders:read', addresses: '10.0.0.0/8', quota: '1000/day', expiresAt: /^20.*Z$/ }
  t.match(audit.json(), [
    { details: { name: 'by-file', ...same, expiresAt } },
    { details: { name: 'certificate', ...same, certificate: /^[0-9a-f]{64}$/ } },
    { details: { name: 'by-command', ...same } },
  ])
})

t.test('values of keys create and keys revoke that are wrong are refused by the option', async (t) => {
  const { run } = createWorkspace(t)
  await run('accounts', 'create', '--email', 'ada@example.com')
  const create = (...args: readonly string[]) => run('keys', 'create', 'ada@example.com', ...args)
  for (const [args, pattern] of [
    [[], /--name is missing/],
    [['--name', 'a', '--expires', '90'], /--expires must be from/],
    [['--name', 'a', '--expires', '0s'], /--expires must be from/],
    [['--name', 'a', '--expires', '999ms'], /--expires must be from 1s to 3653d/],
    [['--name', 'a', '--expires', '3654d'], /--expires must be from/],
    [['--name', 'a', '--scopes', ''], /--scopes must be a list/],
    [['--name', 'a', '--from', '10.0.0.0/8,'], /--from must be a list/],
  ] as const) {
    t.match(await create(...args), { status: 2, stdout: '', stderr: pattern }, args.join(' '))
  }
  for (const [args, pattern] of [
    [['--name', 'default'], /\n {2}--name: "default"/],
    [['--name', 'x'.repeat(65)], /\n {2}--name: must be/],
    [['--name', 'a', '--scopes', 'b,b'], /\n {2}--scopes: must be/],
    [['--name', 'a', '--from', '10.0.0.0/33'], /\n {2}--from: must be/],
  ] as const) {
    t.match(await create(...args), { status: 1, stdout: '', stderr: pattern }, args.join(' '))
  }
  t.match(await create('--name', 'x'.repeat(64), '--expires', '3653d'), { status: 0 })
  t.match(await create('--name', 'brief', '--expires', '1s'), { status: 0 })
  t.match(await create('--name', 'x'.repeat(64)), { status: 1, stderr: /--name: .*another key/ })
  const revoke = (...args: readonly string[]) => run('keys', 'revoke', 'ada@example.com', ...args)
  t.match(await revoke('none'), { status: 1, stderr: /\n {2}NAME: .*no secret key called "none"/ })
  t.match(await revoke('default', '--grace', '31d'), { status: 2, stderr: /--grace must be/ })
  t.match(await run('keys', 'list', 'nobody@example.com'), { status: 1, stdout: '' })
})

t.test('an account may have twenty secret keys, and not one more', async (t) => {
  const { run } = createWorkspace(t)
  await run('accounts', 'create', '--email', 'ada@example.com')
  const create = (name: string) => run('keys', 'create', 'ada@example.com', '--name', name)
  for (let count = 1; count < 20; count++) t.equal((await create(`key-${count}`)).status, 0)
  t.match(await create('one-over'), { status: 1, stderr: /--name: the account has 20 secret keys/ })
  t.equal((await run('keys', 'revoke', 'ada@example.com', 'key-7')).status, 0)
  t.equal((await create('one-over')).status, 0)
})
