import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { importMax } from '#accounts/import-file.ts'
import { checkAccounts } from '#cli/accounts/checked-accounts.ts'
import { shellWord } from '#platform/text.ts'
import { storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { startRedis } from '../setup/redis.ts'
import { openInspector } from '../store/redis/place.ts'
import { program, run, start } from './run.ts'
import { createWorkspace, createWorkspaceOn, sealingKey, type Workspace } from './workspace.ts'

// needs: bash

/** One more than are kept: the accounts are streamed. */
const many = importMax.kept + 1

function fileOf(count: number, last: string): string {
  const emails = Array.from({ length: count - 1 }, (_, index) => `u${index}@example.com`)
  return ['email', ...emails, last].join('\n')
}

async function countOf({ run }: Workspace): Promise<number> {
  const { stdout } = await run('accounts', 'list', '--csv')
  return stdout.split('\r\n').length - 2
}

const accountIds = 'gh:{account}:ids'

async function createOnRedis(t: Test) {
  const server = await startRedis(t)
  const options = { store: { driver: 'redis', redis: { url: server.url } } }
  const workspace = createWorkspace(t, options, { 'data/sealing.key': sealingKey })
  return { workspace, inspector: openInspector(t, server) }
}

/** Runs an import in a shell. @returns its status and what it says */
async function shell({ folder, config }: Workspace, line: string) {
  const gatehouse = `gatehouse() { ${shellWord(process.execPath)} ${shellWord(program)} "$@"; }`
  const env = { PATH: process.env.PATH, GATEHOUSE_CONFIG: config }
  const script = `${gatehouse}\n${line}`
  return promisify(execFile)('bash', ['--norc', '-c', script], { cwd: folder, env, maxBuffer: 1e8 })
}

for (const driver of storeDrivers) {
  t.test(`more accounts than fit into one call are imported on ${driver}, and their keys work`, async (t) => {
    const workspace = await createWorkspaceOn(t, driver)
    writeFileSync(join(workspace.folder, 'people'), fileOf(many, 'last@example.com'))
    const outcome = await workspace.run('accounts', 'import', 'people', '--json')
    t.equal(outcome.status, 0)
    const made = outcome.json() as readonly { email: string; secretKey: string; apiKey: string }[]
    t.equal(made.length, many)
    t.equal(await countOf(workspace), many)
    for (const { email, secretKey, apiKey } of [made[0], made.at(-1)].filter((one) => one !== undefined)) {
      t.strictSame((await workspace.run('keys', 'show', email, '--json')).json(), { secretKey, apiKey })
    }
    t.match(await workspace.run('audit', 'verify'), { status: 0 })

    t.test('a file gets their keys as CSV, with one heading', async (t) => {
      const others = ['email', ...Array.from({ length: many }, (_, index) => `v${index}@example.com`)]
      writeFileSync(join(workspace.folder, 'others'), others.join('\n'))
      const { stdout, stderr } = await workspace.run('accounts', 'import', 'others')
      const lines = stdout.split('\r\n')
      t.equal(lines[0], 'id,email,secretKey,apiKey')
      t.equal(lines.length, many + 2)
      const row = /^\w{16},v\d+@example\.com,gate_sk_\w+,gate_ak_\w+$/
      t.strictSame(
        lines.slice(1, -1).filter((line) => !row.test(line)),
        [],
      )
      t.match(stderr, `${many} accounts imported. Save the keys: they are not shown again.\n`)
    })

    t.test('again, they are all refused', async (t) => {
      const { status, stdout, stderr } = await workspace.run('accounts', 'import', 'people')
      t.equal(status, 1)
      t.equal(stdout, '')
      t.equal(stderr.match(/already has an account$/gm)?.length, many)
    })
  })
}

t.test('where the keys cannot be printed nothing is imported', async (t) => {
  const workspace = createWorkspace(t)
  writeFileSync(join(workspace.folder, 'people'), fileOf(many, 'last@example.com'))
  const full = await shell(workspace, 'gatehouse accounts import people 2>&1 > /dev/full; echo "status $?"')
  t.match(full.stdout, /the printed keys are void.*no space left on device; nothing was imported/s)
  t.match(full.stdout, /status 1\n$/)
  const gone = await shell(workspace, `gatehouse accounts import people | head -1; echo "\${PIPESTATUS[0]}"`)
  t.match(gone.stdout, /^id,email,secretKey,apiKey\r\n1\n$/)
  t.match(gone.stderr, /the reader closed it; nothing was imported/)
  t.equal(await countOf(workspace), 0)
})

t.test('an import into Redis that a signal stops leaves nothing behind', async (t) => {
  const { workspace, inspector } = await createOnRedis(t)
  writeFileSync(join(workspace.folder, 'people'), fileOf(many, 'last@example.com'))
  const args = ['accounts', 'import', 'people', '--config', workspace.config]
  const { child, ended } = start(t, args, { cwd: workspace.folder })
  // It waits with the keys of the first accounts, which nobody reads.
  child.stdout.pause()
  await until('some are imported', async () => (await inspector.zcard(accountIds)) > 0 || undefined)
  child.kill('SIGINT')
  child.stdout.resume()
  t.match(await ended, { stderr: /^Stopping: .*removed again\.\n.*the printed keys are void/s })
  t.equal(child.signalCode, 'SIGINT')
  t.equal(await inspector.zcard(accountIds), 0)
})

t.test('an import never keeps Redis from its other callers for long', async (t) => {
  const { workspace, inspector } = await createOnRedis(t)
  await inspector.config('SET', 'slowlog-log-slower-than', 0)
  await inspector.config('SET', 'slowlog-max-len', 100_000)
  const count = 5_000
  writeFileSync(join(workspace.folder, 'people'), fileOf(count, 'last@example.com'))
  const { stdout } = await workspace.run('accounts', 'import', 'people')
  t.equal(stdout.split('\r\n').length, count + 2)
  t.equal(await inspector.zcard(accountIds), count)
  const calls = (await inspector.call('SLOWLOG', 'GET', -1)) as [number, number, number, string[]][]
  const argumentsMost = Math.max(
    ...calls.map(([, , , args]) => Number(/\((\d+) more arguments\)/.exec(args.at(-1) ?? '')?.[1] ?? 0)),
  )
  t.ok(argumentsMost > 200 && argumentsMost < 2_000, `of 200 accounts at most: ${argumentsMost}`)
})

t.test('a table of streamed accounts is as wide as its longest e-mail', async (t) => {
  const workspace = createWorkspace(t)
  const longest = `${'x'.repeat(60)}@example.com`
  writeFileSync(join(workspace.folder, 'people'), fileOf(many, longest))
  const { folder, config } = workspace
  const command = ['accounts', 'import', 'people', '--config', config]
  const { stdout } = await run(t, command, { cwd: folder, isTerminal: true })
  const [header = '', first = ''] = stdout.split('\n')
  t.equal(first.indexOf('gate_sk_'), header.indexOf('SECRET KEY'))
  t.match(stdout, new RegExp(`^\\S+ +${longest} {2}gate_sk_\\S+ {2}gate_ak_\\S+\n$`, 'm'))
})

t.test('--check reports every bad line, and imports nothing of a good file', async (t) => {
  const workspace = createWorkspace(t)
  const text = 'email\nada@example.com\n"bob@example.com"\n'
  t.match(await workspace.runWith(text, 'accounts', 'import', '-', '--check'), {
    status: 0,
    stdout: 'standard input is valid: 2 accounts; nothing was imported.\n',
  })
  const json = await workspace.runWith(text, 'accounts', 'import', '-', '--check', '--json')
  t.strictSame(json.json(), { accounts: 2 })
  t.match(await workspace.runWith(`${text}bad\nADA@example.com\n`, 'accounts', 'import', '-', '--check'), {
    status: 1,
    stderr:
      /^standard input:4 {2}email: must be.*^standard input:5 {2}email: ADA@example\.com is already on line 2/ms,
  })
  t.equal(await countOf(workspace), 0)
})

t.test('accounts are imported from standard input', async (t) => {
  const workspace = createWorkspace(t)
  const chunks = ['email,firstName\nada@example.com,"A', Buffer.from('da"\n')]
  const outcome = await workspace.runWith(chunks, 'accounts', 'import', '-', '--json')
  t.match(outcome.json(), [{ email: 'ada@example.com', firstName: 'Ada' }])
})

t.test('an import may have a million accounts, and none more', async (t) => {
  async function check(count: number) {
    async function* lines() {
      for (let line = 1; line <= count; line += 1_000) {
        const length = Math.min(1_000, count - line + 1)
        yield Array.from({ length }, (_, index) => {
          return { line: line + index, text: `{"email":"u${line + index}@x"}`, problem: undefined }
        })
      }
    }
    return checkAccounts({
      source: { name: 'people', lines },
      accounts: { findTaken: async () => [], planNames: [] },
      progress: { report: () => {}, end: () => {} },
      onBadLine: (line, message) => t.fail(`${line}: ${message}`),
    })
  }
  t.match(await check(importMax.command), { count: importMax.command, badLines: 0 })
  await t.rejects(check(importMax.command + 1), { message: /people has more than 1000000 accounts/ })
})
