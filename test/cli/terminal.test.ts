import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { shellWord } from '#platform/text.ts'
import { type OnTerminal, startOnTerminal } from '../setup/pty.ts'
import { program } from './run.ts'
import { createWorkspace, type Workspace } from './workspace.ts'

// needs: bash

const password = 'correct horse battery'

function onTerminal(t: Test, { folder, config }: Workspace, ...args: readonly string[]): OnTerminal {
  return startOnTerminal(t, [process.execPath, program, ...args, '--config', config], { cwd: folder })
}

/** Runs a line of shell in which gatehouse is the program, with the config of the workspace. */
async function shell(
  { folder, config }: Workspace,
  line: string,
): Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }> {
  const gatehouse = `gatehouse() { ${shellWord(process.execPath)} ${shellWord(program)} "$@"; }`
  const env = { PATH: process.env.PATH, GATEHOUSE_CONFIG: config }
  const work = promisify(execFile)('bash', ['--norc', '-c', `${gatehouse}\n${line}`], { cwd: folder, env })
  return work.then(
    (output) => ({ status: 0, ...output }),
    ({ code, stdout, stderr }) => ({ status: Number(code), stdout: String(stdout), stderr: String(stderr) }),
  )
}

t.test('a password is asked for twice and never shown, and signs in afterwards', async (t) => {
  const workspace = createWorkspace(t)
  const create = ['accounts', 'create', '--email', 'ada@example.com', '--password-stdin']
  const terminal = onTerminal(t, workspace, ...create)
  await terminal.shows(/Password for the portal: /)
  // A character too many and a wrong line are corrected as anywhere.
  terminal.type(`wrong\u0015${password}x\u007f\r`)
  await terminal.shows(/again: /)
  terminal.type(`${password}\r`)
  await terminal.shows(/Account created/)
  t.equal(await terminal.ended, 0)
  t.notMatch(terminal.screen(), new RegExp(`${password}|wrong`))
  t.notMatch(terminal.screen(), /Set a portal password/, 'the password is set')
})

t.test('two passwords that differ change nothing', async (t) => {
  const workspace = createWorkspace(t)
  await workspace.run('accounts', 'create', '--email', 'ada@example.com')
  const terminal = onTerminal(t, workspace, 'accounts', 'update', 'ada@example.com', '--password-stdin')
  await terminal.shows(/Password for the portal: /)
  terminal.type(`${password}\r`)
  await terminal.shows(/again: /)
  terminal.type(`${password}r\r`)
  await terminal.shows(/the two passwords differ/)
  t.equal(await terminal.ended, 1)
})

t.test('Ctrl-C at a password ends the command by SIGINT and restores the echo', async (t) => {
  const workspace = createWorkspace(t)
  const gatehouse = [process.execPath, program, 'accounts', 'create', '--email', 'ada@example.com']
  const words = [...gatehouse, '--password-stdin', '--config', workspace.config].map(shellWord).join(' ')
  const line = `${words}; echo "status=$?"; stty -a | grep -ow -e '-\\?echo' -e '-\\?icanon'; read -r line; echo "got $line"`
  const terminal = startOnTerminal(t, ['bash', '-c', `trap : INT; ${line}`], { cwd: workspace.folder })
  await terminal.shows(/Password for the portal: /)
  terminal.type('half\u0003')
  await terminal.shows(/status=130\s/)
  await terminal.shows(/icanon\s/)
  await terminal.shows(/(?<!-)echo\s/)
  t.notMatch(terminal.screen(), /-echo|-icanon|half/)
  terminal.type('visible\r')
  await terminal.shows(/visible\s+got visible/)
  t.equal(await terminal.ended, 0)
  t.match((await workspace.run('accounts', 'list', '--json')).json(), [])
})

t.test('Ctrl-D at a password changes nothing, and what is typed ahead is taken', async (t) => {
  const workspace = createWorkspace(t)
  const create = ['accounts', 'create', '--email', 'ada@example.com', '--password-stdin']
  const ended = onTerminal(t, workspace, ...create)
  await ended.shows(/Password for the portal: /)
  ended.type('\u0004')
  await ended.shows(/the input ended before all questions were answered/)
  t.equal(await ended.ended, 1)
  const ahead = onTerminal(t, workspace, ...create)
  await ahead.shows(/Password for the portal: /)
  ahead.type(`${password}\r${password}\r`)
  await ahead.shows(/Account created/)
  t.notMatch(ahead.screen(), new RegExp(password))
})

t.test('on a terminal a deletion is asked about; no, and an empty line, delete nothing', async (t) => {
  const workspace = createWorkspace(t)
  await workspace.run('accounts', 'create', '--email', 'ada@example.com')
  for (const answer of ['n\r', '\r']) {
    const terminal = onTerminal(t, workspace, 'accounts', 'delete', 'ada@example.com')
    await terminal.shows(/Delete the account ada@example\.com .*\? \[y\/N\] /)
    terminal.type(answer)
    await terminal.shows(/not confirmed/)
    t.equal(await terminal.ended, 1)
  }
  t.equal((await workspace.run('accounts', 'show', 'ada@example.com')).status, 0)
  const terminal = onTerminal(t, workspace, 'accounts', 'delete', 'ada@example.com')
  await terminal.shows(/\[y\/N\] /)
  terminal.type('y\r')
  await terminal.shows(/deleted\./)
  t.equal(await terminal.ended, 0)
  t.equal((await workspace.run('accounts', 'show', 'ada@example.com')).status, 1)
})

t.test('--yes deletes without a question, and so does a script', async (t) => {
  const workspace = createWorkspace(t)
  for (const email of ['ada@example.com', 'bob@example.com']) {
    await workspace.run('accounts', 'create', '--email', email)
  }
  const terminal = onTerminal(t, workspace, 'accounts', 'delete', 'ada@example.com', '--yes')
  t.equal(await terminal.ended, 0)
  t.notMatch(terminal.screen(), /\[y\/N\]/)
  const script = await shell(workspace, 'gatehouse accounts delete bob@example.com < /dev/null')
  t.match(script, { status: 0, stderr: '', stdout: /deleted\./ })
})

t.test('a key is revoked and a signing key retired on a terminal only after a yes', async (t) => {
  const workspace = createWorkspace(t)
  await workspace.run('accounts', 'create', '--email', 'ada@example.com')
  await workspace.run('keys', 'create', 'ada@example.com', '--name', 'ci')
  const rotated = await workspace.run('signing-keys', 'rotate', '--now', '--json')
  const { kid } = rotated.json() as { readonly kid: string }
  for (const args of [
    ['keys', 'revoke', 'ada@example.com', 'ci'],
    ['signing-keys', 'retire', kid],
  ]) {
    const terminal = onTerminal(t, workspace, ...args)
    await terminal.shows(/\[y\/N\] /)
    terminal.type('no\r')
    t.equal(await terminal.ended, 1, args.join(' '))
  }
  t.match((await workspace.run('keys', 'list', 'ada@example.com')).stdout, /^ci +\S{4} +valid/m)
  t.match((await workspace.run('signing-keys', 'list')).stdout, new RegExp(`^${kid} `, 'm'))
})

t.test('a reader that stops early is no failure, however much there is to print', async (t) => {
  const emails = Array.from({ length: 3_000 }, (_, index) => `a${index}@example.com`)
  const workspace = createWorkspace(t, {}, { people: ['email', ...emails].join('\n') })
  t.equal((await workspace.run('accounts', 'import', 'people')).status, 0)
  for (const format of ['', '--csv', '--json']) {
    const line = `gatehouse accounts list ${format} | head -1; echo "\${PIPESTATUS[0]}"`
    const { stdout, stderr } = await shell(workspace, line)
    t.match(stdout, /^[^\n]+\n0\n$/, `accounts list ${format}`)
    t.equal(stderr, '')
  }
  t.match(await shell(workspace, 'gatehouse usage export | true'), { status: 0, stderr: '' })
})

t.test('output that cannot be written is a failure, and said', async (t) => {
  const workspace = createWorkspace(t)
  await workspace.run('accounts', 'create', '--email', 'ada@example.com')
  for (const command of [
    'accounts list',
    'accounts list --csv',
    'usage export',
    'config schema',
    '--version',
  ]) {
    const { status, stderr } = await shell(workspace, `gatehouse ${command} > /dev/full`)
    t.equal(status, 1, command)
    t.equal(stderr, 'gatehouse: cannot write to standard output: no space left on device\n', command)
  }
})

t.test('keys that cannot be printed are said to be valid, and how to show or replace them', async (t) => {
  const workspace = createWorkspace(t, {}, { people: 'email\nbob@example.com\n', nobody: 'email\n' })
  const wayOfAccount =
    'Show them with gatehouse keys show, or replace them: gatehouse keys reset-secret, keys reset-api'
  const wayOfKey =
    'Replace it: gatehouse keys rotate, or keys reset-secret or reset-api for those that an account begins with'
  const full = 'gatehouse: cannot write to standard output: no space left on device\n'
  for (const [command, what, way] of [
    ['accounts create --email ada@example.com', 'the account exists, but its keys', wayOfAccount],
    ['accounts import people', 'the accounts exist, but their keys', wayOfAccount],
    ['keys create ada@example.com --name ci', 'the new secret key is valid, but', wayOfKey],
    ['keys reset-secret ada@example.com', 'the new secret key is valid, but', wayOfKey],
    ['keys reset-api ada@example.com --json', 'the new API key is valid, but', wayOfKey],
  ] as const) {
    const { status, stderr } = await shell(workspace, `gatehouse ${command} > /dev/full`)
    t.equal(status, 1, command)
    t.match(stderr, new RegExp(`^gatehouse: ${what} could not be printed\n {2}${way}\n${full}$`), command)
  }
  const gone = await shell(workspace, 'set -o pipefail; gatehouse keys rotate ada@example.com ci | exec >&-')
  t.match(gone, { status: 1, stderr: /^gatehouse: the new secret key is valid, but could not be printed\n/ })
  t.match(await workspace.run('accounts', 'show', 'bob@example.com'), { status: 0 })
  t.match(await shell(workspace, 'gatehouse accounts import nobody > /dev/full'), { status: 1, stderr: full })
})

t.test('CSV is as RFC 4180 says, and no cell is a formula', async (t) => {
  const workspace = createWorkspace(t)
  const names = ['--first-name', '=1+1', '--last-name', 'a "b", c']
  await workspace.run('accounts', 'create', '--email', 'ada@example.com', ...names)
  const { stdout } = await workspace.run('accounts', 'list', '--csv')
  const [header, row, end] = stdout.split('\r\n')
  t.equal(header, 'id,email,firstName,lastName,role,isVerified,disabled,plan,createdAt,lastActiveOn')
  t.match(row, /^[\w-]+,ada@example\.com,"'=1\+1","a ""b"", c",User,false,false,,\d{4}-/)
  t.equal(end, '')
  t.match(await workspace.run('usage', 'ada@example.com', '--csv'), {
    status: 0,
    stdout: 'day,key,route,requests,units\r\n',
  })
  for (const args of [
    ['accounts', 'list'],
    ['usage', 'ada@example.com'],
  ]) {
    t.match(await workspace.run(...args, '--csv', '--json'), { status: 2, stderr: /exclude each other/ })
  }
})

t.test('accounts of many pages are listed once each, in every format', async (t) => {
  const emails = Array.from({ length: 1_201 }, (_, index) => `a${index}@example.com`)
  const workspace = createWorkspace(t)
  writeFileSync(join(workspace.folder, 'people'), ['email', ...emails].join('\n'))
  await workspace.run('accounts', 'import', 'people')
  const listed = async (...args: readonly string[]) =>
    (await workspace.run('accounts', 'list', ...args)).stdout
  const json = JSON.parse(await listed('--json')) as readonly { readonly email: string }[]
  t.strictSame(json.map(({ email }) => email).toSorted(), emails.toSorted())
  const find = (text: string) => (text.match(/a\d+@example\.com/g) ?? []).toSorted()
  t.strictSame(find(await listed('--csv')), emails.toSorted())
  t.strictSame(find(await listed()), emails.toSorted())
})
