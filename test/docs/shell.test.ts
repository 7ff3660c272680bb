import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { createShell, linesOf } from './shell.ts'
import { snippetsOf } from './snippets.ts'

// needs: bash, curl, sqlite3

/** The shell lines of pages that need nothing but the command, curl and other small programs. */

t.test('the lines of the pages for operators work in their order', async (t) => {
  const { folder, run } = createShell(t)
  for (const line of linesOf('docs/operators/commands.md', 'Before a change')) await run(line)
  // One Admin has to be left when the page disables another.
  await run('gatehouse accounts create --email first@example.com --role Admin')
  for (const line of linesOf('docs/operators/accounts-and-keys.md', 'Accounts and keys'))
    await run(line.includes('--password-stdin') ? `< password.txt ${line}` : line)
  const rotation = linesOf('docs/operators/sealing-and-signing-keys.md', 'Replacing the sealing key').map(
    (line) => run.bind(undefined, line),
  )
  const [add, promote, rest, drop] = rotation
  t.match(await add?.(), 'A new sealing key is added')
  t.match(await promote?.(), /Resealed: [1-9]\d* accounts/)
  t.match(await rest?.(), 'Resealed: 0 accounts')
  t.match(await drop?.(), 'The previous sealing key is dropped')
  // The copies of those before have gone with the password that was set.
  await run('gatehouse keys reset-secret ada@example.com')
  await run('gatehouse keys reset-api ada@example.com')
  t.match(await run('gatehouse keys show ada@example.com'), /gate_sk_/)
  await run('git init -q && git add people.csv')
  // It exits with 1: no file of the folder has a key.
  const [pattern = '', grep = ''] = linesOf('docs/operators/accounts-and-keys.md', 'Where keys may come')
  await run(pattern)
  t.match(await run(`${grep} || echo "status $?"`), 'status 1')
  for (const line of linesOf('docs/operators/accounts-and-keys.md', 'Keys made elsewhere')) await run(line)
  const asFile = 'Accounts and keys as a file'
  const state = snippetsOf('docs/operators/accounts-and-keys.md').find(({ heading }) => heading === asFile)
  writeFileSync(join(folder, 'accounts.yaml'), state?.text ?? '')
  const [dryRun, apply, prune] = linesOf('docs/operators/accounts-and-keys.md', asFile).map((line) =>
    run.bind(undefined, line),
  )
  t.match(await dryRun?.(), '5 changes to make; nothing was changed.')
  t.match(await apply?.(), '5 changes made.')
  t.match(await prune?.(), 'Everything already matches accounts.yaml')
  const [bash = '', zsh = '', fish = ''] = linesOf('docs/operators/commands.md', 'On a terminal')
  mkdirSync(join(folder, '.config/fish/completions'), { recursive: true })
  t.match(await run(`${bash.replace(/#.*/, '')}; complete -p gatehouse`), 'gatehouse')
  await run(`zsh -fc 'autoload -U compinit; compinit -u -D; ${zsh.replace(/#.*/, '')}'`)
  await run(`${fish}; fish --no-execute ~/.config/fish/completions/gatehouse.fish`)
  for (const line of linesOf('docs/issuers.md', 'Blocking users')) await run(line)
})

t.test('Prometheus accepts the settings of the monitoring page', async (t) => {
  const { folder, run } = createShell(t)
  const found = snippetsOf('docs/operators/monitoring.md').find(
    ({ heading }) => heading === 'Dashboard and alerts',
  )
  writeFileSync(join(folder, 'prometheus.yaml'), found?.text ?? '')
  copyFileSync('deploy/dashboards/alerts.yaml', join(folder, 'alerts.yaml'))
  t.match(
    await run('promtool check config prometheus.yaml'),
    /1 rule files found(?:.|\n)*SUCCESS: \d\d rules/,
  )
})

t.test('the curl lines about the admin API work as its page has them', async (t) => {
  const gateway = await startGateway(t)
  const { account } = await gateway.createAccount()
  const { secretKey } = await gateway.createAccount({ role: 'Admin' })
  const { run } = createShell(t)
  for (const line of linesOf('docs/operators/portal-users-and-audit.md', 'Admin API')) {
    const filled = line
      .replace('https://api.example.com', gateway.url)
      .replace('gate_sk_…', secretKey)
      .replace('/ID/', `/${account.id}/`)
    await run(filled.replace('curl', 'curl -sS --fail'))
  }
})

t.test('a key in a header and a credential of the backend are sent as their page has it', async (t) => {
  const routes = [{ name: 'models', path: '/v1', upstream: 'backend', auth: 'any', authorization: 'backend' }]
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  const { account, secretKey } = await gateway.createAccount()
  const { run } = createShell(t)
  const [line = ''] = linesOf('docs/operators/accounts-and-keys.md', 'Two credentials in one request')
  const filled = line
    .replace('https://gateway.example', gateway.url)
    .replace('$KEY', secretKey)
    .replace('$PROVIDER_KEY', 'of-the-provider')
  await run(filled.replace('curl', 'curl -sS --fail'))
  t.match(backend.last().headers, { authorization: 'Bearer of-the-provider', 'x-user-id': account.id })
})

t.test('the first account of each way to deploy is made by a command that exists', async (t) => {
  const ways = ['systemd', 'Container', 'Compose', 'Kubernetes']
  const { run } = createShell(t)
  const places = /^.*? (?:gatehouse|\S+\/gatehouse|node dist\/main\.js) (?=accounts)/
  for (const [index, way] of ways.entries()) {
    const line = linesOf('docs/deploying.md', way).find((each) => each.includes('accounts create')) ?? ''
    const command = line.replace(places, 'gatehouse ').replace('ada@', `ada${index}@`)
    await run(command.replace(/ --config \S+/, ''))
  }
  t.equal((await run('gatehouse accounts list --json')).match(/"email"/g)?.length, ways.length)
})

t.test('the scripts that the loop of the contributing page names are scripts', async (t) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>
  }
  const names = linesOf('CONTRIBUTING.md', 'The loop').flatMap((line) =>
    [...line.replace(/#.*/, '').matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name),
  )
  t.ok(names.length > 4)
  t.strictSame(
    names.filter((name) => !(name in scripts)),
    [],
  )
})
