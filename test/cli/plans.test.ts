import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createWorkspace, type Workspace } from './workspace.ts'

const plans = {
  free: { quota: { limit: 10_000, per: 'month' } },
  pro: { quota: { limit: 500, per: 'day' }, rateLimit: { limit: 60, per: '1m' } },
}

async function planOf({ run }: Workspace, who: string): Promise<unknown> {
  const { stdout } = await run('accounts', 'show', who, '--json')
  return (JSON.parse(stdout) as { readonly plan: unknown }).plan
}

async function createAda(t: Test, workspace: Workspace, ...options: readonly string[]) {
  const outcome = await workspace.run('accounts', 'create', '--email', 'ada@example.com', ...options)
  t.equal(outcome.status, 0, outcome.stderr)
}

t.test('--plan gives an account a plan of the config, and none takes it away', async (t) => {
  const workspace = createWorkspace(t, { plans })
  await createAda(t, workspace, '--plan', 'free')
  t.equal(await planOf(workspace, 'ada@example.com'), 'free')
  t.match((await workspace.run('accounts', 'show', 'ada@example.com')).stdout, /^ *Plan +free$/m)
  t.match((await workspace.run('accounts', 'list')).stdout, /ada@example\.com.* free +-$/m)
  for (const [given, expected] of [
    ['pro', 'pro'],
    ['none', null],
  ] as const) {
    const { status } = await workspace.run('accounts', 'update', 'ada@example.com', '--plan', given)
    t.equal(status, 0)
    t.equal(await planOf(workspace, 'ada@example.com'), expected)
  }
})

t.test('explain says that it does not read what is left of a plan', async (t) => {
  const workspace = createWorkspace(t, { plans })
  await createAda(t, workspace, '--plan', 'pro')
  const shown = (await workspace.run('keys', 'show', 'ada@example.com', '--json')).json()
  const { secretKey } = shown as { readonly secretKey: string }
  const { stdout } = await workspace.run('explain', 'GET', '/', '-H', `SecretKey: ${secretKey}`)
  t.match(
    stdout,
    /plan pro: 60 requests in 60 s, 500 a day, over all routes \(explain neither counts the request nor reads the counter: see gatehouse usage\)/,
  )
})

t.test('explain says the quota of a key', async (t) => {
  const workspace = createWorkspace(t)
  await createAda(t, workspace)
  const created = await workspace.run(
    ...['keys', 'create', 'ada@example.com', '--name', 'ci', '--quota', '1000/day', '--json'],
  )
  const { secretKey } = created.json() as { readonly secretKey: string }
  const explain = (...args: readonly string[]) =>
    workspace.run('explain', 'GET', '/', '-H', `SecretKey: ${secretKey}`, ...args)
  t.match((await explain()).stdout, /quota of the key: 1000 a day \(explain neither counts/)
  t.match((await explain('--json')).json(), {
    steps: [{}, {}, {}, {}, {}, { step: 'limits', facts: { keyQuota: { limit: 1_000, per: 'day' } } }],
  })
})

t.test('a plan that is not in the config is refused, with those that are', async (t) => {
  const workspace = createWorkspace(t, { plans })
  await createAda(t, workspace, '--plan', 'free')
  for (const plan of ['gold', 'Free', '', '__proto__']) {
    for (const command of [
      ['create', '--email', 'bob@example.com'],
      ['update', 'ada@example.com'],
    ]) {
      const { status, stderr } = await workspace.run('accounts', ...command, `--plan=${plan}`)
      t.equal(status, 1)
      t.match(stderr, 'unknown plan: must be one of free, pro')
    }
  }
  t.equal(await planOf(workspace, 'ada@example.com'), 'free')
  const without = createWorkspace(t)
  const { stderr } = await without.run('accounts', 'create', '--email', 'a@b.c', '--plan', 'free')
  t.match(stderr, 'unknown plan: the config has no plans')
})

t.test('commands warn of accounts whose plan is no longer in the config', async (t) => {
  const workspace = createWorkspace(t, { plans })
  await createAda(t, workspace, '--plan', 'pro')
  await workspace.run('accounts', 'create', '--email', 'bob@example.com', '--plan', 'free')
  const { run } = createWorkspace(t, {
    plans: { free: plans.free },
    store: { sqlite: { path: join(workspace.folder, 'data/gatehouse.db') } },
    keys: { sealingKey: { file: join(workspace.folder, 'data/sealing.key') } },
  })
  const warning = 'warning: 1 account has the plan "pro", which is not in the config: not limited\n'
  t.equal((await run('accounts', 'list')).stderr, warning)
  t.equal((await run('accounts', 'show', 'ada@example.com')).stderr, warning)
  t.equal((await run('accounts', 'show', 'bob@example.com')).stderr, '')
  t.match((await run('usage', 'ada@example.com')).stdout, /^Plan pro: not in the config, so not limited$/m)
  const usage = JSON.parse((await run('usage', 'ada@example.com', '--json')).stdout)
  t.match(usage, { plan: { name: 'pro', known: false, quota: null, rateLimit: null } })
  t.equal((await workspace.run('accounts', 'list')).stderr, '', 'with the old config')
})

t.test('a file of accounts gives them plans', async (t) => {
  for (const [name, text] of [
    ['a.csv', 'email,plan\nada@example.com,free\nbob@example.com,\n'],
    ['a.jsonl', '{"email":"ada@example.com","plan":"free"}\n{"email":"bob@example.com","plan":null}\n'],
  ] as const) {
    const workspace = createWorkspace(t, { plans })
    writeFileSync(join(workspace.folder, name), text)
    const { status, stderr } = await workspace.run('accounts', 'import', join(workspace.folder, name))
    t.equal(status, 0, stderr)
    t.equal(await planOf(workspace, 'ada@example.com'), 'free')
    t.equal(await planOf(workspace, 'bob@example.com'), null)
  }
})

t.test('a file with an unknown plan is refused as a whole, with every such line', async (t) => {
  const workspace = createWorkspace(t, { plans })
  await createAda(t, workspace)
  const file = join(workspace.folder, 'a.csv')
  writeFileSync(file, 'email,plan\nbob@example.com,free\nada@example.com,gold\neve@example.com,Pro\n')
  const { status, stderr } = await workspace.run('accounts', 'import', file)
  t.equal(status, 1)
  const unknown = 'plan: unknown plan: must be one of free, pro'
  t.match(stderr, `a.csv:3  email: ada@example.com already has an account; ${unknown}\n`)
  t.match(stderr, `a.csv:4  ${unknown}\n`)
  t.notMatch(stderr, 'a.csv:2')
  t.match(await workspace.run('accounts', 'show', 'bob@example.com'), { status: 1 })
})

t.test('usage calls what quotas count units where a route says so', async (t) => {
  const route = { name: 'models', path: '/v1', upstream: 'models', auth: 'any', costHeader: 'X-Cost' }
  const upstreams = { models: { targets: [{ url: 'http://127.0.0.1:9' }] } }
  const routes = [{ ...route, quotaCounts: 'units' }]
  const workspace = createWorkspace(t, { plans, upstreams, routes })
  await createAda(t, workspace, '--plan', 'pro')
  t.match(
    (await workspace.run('usage', 'ada@example.com')).stdout,
    /^Plan pro: 0 of 500 units this day, 500 left/,
  )
})

t.test('usage shows the plan of an account, and what is left of it', async (t) => {
  const workspace = createWorkspace(t, { plans })
  await createAda(t, workspace, '--plan', 'pro')
  const { stdout } = await workspace.run('usage', 'ada@example.com')
  t.match(
    stdout,
    /^Plan pro: 0 of 500 requests this day, 500 left until \d{4}-\d\d-\d\dT00:00:00.000Z; 60 requests per 60 s\n/,
  )
  const { plan } = JSON.parse((await workspace.run('usage', 'ada@example.com', '--json')).stdout)
  t.match(plan, {
    name: 'pro',
    known: true,
    quota: { limit: 500, per: 'day', used: 0, remaining: 500, resetsAt: /T00:00:00\.000Z$/ },
    rateLimit: { limit: 60, perSeconds: 60 },
  })
  await workspace.run('accounts', 'update', 'ada@example.com', '--plan', 'none')
  t.notMatch((await workspace.run('usage', 'ada@example.com')).stdout, 'Plan')
  t.match(JSON.parse((await workspace.run('usage', 'ada@example.com', '--json')).stdout), { plan: null })
})
