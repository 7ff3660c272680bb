import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createKey, digestOf } from '#platform/secrets/keys.ts'
import { createWorkspace } from './workspace.ts'

const header = 'account,digest,name'

function keyLine(name: string): string {
  const digest = Buffer.from(digestOf(createKey('secretKey', name, 'old'))).toString('hex')
  return `ada@example.com,${digest},${name}`
}

t.test('keys are imported from standard input, and nothing of it stays on the disk', async (t) => {
  const workspace = createWorkspace(t)
  await workspace.run('accounts', 'create', '--email', 'ada@example.com')
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith('gatehouse-import-'))
  const text = [header, keyLine('one'), keyLine('two')].join('\n')
  const chunks = [text.slice(0, 30), Buffer.from(text.slice(30))]
  const outcome = await workspace.runWith(chunks, 'keys', 'import', '-', '--json')
  t.match(outcome, { status: 0, stderr: '' })
  t.strictSame(outcome.json(), { lines: 2, added: 2, present: 0, refused: 0 })
  const after = readdirSync(tmpdir()).filter((name) => name.startsWith('gatehouse-import-'))
  t.strictSame(after, before)
})

t.test('a wrong line of standard input is named, and nothing is imported', async (t) => {
  const workspace = createWorkspace(t)
  await workspace.run('accounts', 'create', '--email', 'ada@example.com')
  const text = [header, keyLine('one'), 'ada@example.com,x,two'].join('\n')
  const outcome = await workspace.runWith(text, 'keys', 'import', '-')
  t.match(outcome, { status: 1, stderr: /^standard input:3 {2}digest: .*nothing was imported/s })
  t.notMatch((await workspace.run('keys', 'list', 'ada@example.com')).stdout, 'one')
})

t.test('a pipe with a name is imported as standard input is', async (t) => {
  const workspace = createWorkspace(t)
  await workspace.run('accounts', 'create', '--email', 'ada@example.com')
  const pipe = join(workspace.folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  writeFileSync(join(workspace.folder, 'keys'), [header, keyLine('one')].join('\n'))
  const writer = spawn('sh', ['-c', 'cat keys > pipe'], { cwd: workspace.folder, stdio: 'ignore' })
  const ended = once(writer, 'exit')
  t.match(await workspace.run('keys', 'import', 'pipe'), { status: 0, stdout: /^1 added/ })
  await ended
})

t.test('a line that is too long, or not UTF-8, is named', async (t) => {
  const workspace = createWorkspace(t)
  await workspace.run('accounts', 'create', '--email', 'ada@example.com')
  const lines = [header, `ada@example.com,${'x'.repeat(1_048_577)},one`, Buffer.from([0xff]), keyLine('two')]
  writeFileSync(
    join(workspace.folder, 'keys'),
    Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')])),
  )
  const outcome = await workspace.run('keys', 'import', 'keys')
  t.equal(outcome.status, 1)
  t.match(outcome.stderr, /^keys:2 {2}is longer than 1 MiB$/m)
  t.match(outcome.stderr, /^keys:3 {2}is not valid UTF-8$/m)
  t.match(outcome.stderr, /2 invalid lines; nothing was imported/)
})
