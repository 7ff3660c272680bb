import { readFileSync } from 'node:fs'
import t from 'tap'
import { run, tempFolder } from './run.ts'

/** Every command, with what follows its name and whether it prints data. */
const commands: readonly (readonly [name: string, operand: string, printsData: boolean])[] = [
  ['init', '', true],
  ['serve', '', false],
  ['check', '', true],
  ['explain', 'METHOD URL', true],
  ['accounts create', '', true],
  ['accounts list', '', true],
  ['accounts show', 'ID|EMAIL', true],
  ['accounts update', 'ID|EMAIL', true],
  ['accounts setup-link', 'ID|EMAIL', true],
  ['accounts unlink', 'ID|EMAIL', true],
  ['accounts reset-second-factor', 'ID|EMAIL', true],
  ['accounts delete', 'ID|EMAIL', true],
  ['accounts import', 'FILE', true],
  ['keys list', 'ID|EMAIL', true],
  ['keys create', 'ID|EMAIL', true],
  ['keys rotate', 'ID|EMAIL NAME', true],
  ['keys revoke', 'ID|EMAIL NAME', true],
  ['keys reset-secret', 'ID|EMAIL', true],
  ['keys reset-api', 'ID|EMAIL', true],
  ['keys show', 'ID|EMAIL', true],
  ['keys pattern', '', true],
  ['keys import', 'FILE', true],
  ['apply', 'FILE', true],
  ['sessions list', 'ID|EMAIL', true],
  ['sessions revoke', 'ID|EMAIL', true],
  ['subjects block', 'ISSUER SUBJECT', true],
  ['subjects unblock', 'ISSUER SUBJECT', true],
  ['subjects list', '', true],
  ['usage export', '', true],
  ['usage', 'ID|EMAIL', true],
  ['events list', '', true],
  ['events retry', '', true],
  ['events test', '', true],
  ['audit list', '', true],
  ['audit verify', '', true],
  ['sealing-key rotate', '', true],
  ['signing-keys list', '', true],
  ['signing-keys rotate', '', true],
  ['signing-keys retire', 'KID', true],
  ['store backup', 'FILE', true],
  ['store restore', 'FILE', true],
  ['config schema', '', true],
  ['config show', '', true],
  ['completion', 'bash|zsh|fish', false],
]

/** Options that only one command has. */
const own: Readonly<Record<string, readonly string[]>> = {
  init: [
    '--upstream URL',
    '--path /',
    '--auth any|secretKey|bearer|optional|none',
    '--host ADDRESS',
    '--port PORT',
    '--public-url URL',
    '--store sqlite|redis',
    '--redis-url URL',
    '-y, --yes',
    '--force',
  ],
  'accounts list': [
    '--search TEXT',
    '--role R',
    '--plan NAME|none',
    '--disabled true|false',
    '--active-since DAY',
    '--inactive-since DAY',
    '--sort newest|oldest|email',
    '--csv',
  ],
  'accounts import': ['--check', '--mail-links'],
  'accounts delete': ['-y, --yes'],
  'signing-keys retire': ['-y, --yes'],
  serve: ['--demo', '--ready-file PATH'],
  explain: ['-H, --header LINE', '--from ADDRESS', '--decide'],
  'accounts create': [
    '--email E',
    '--first-name F',
    '--last-name L',
    '--role R',
    '--verified',
    '--plan NAME|none',
    '--password-stdin',
    '--mail-link',
  ],
  'accounts setup-link': ['--mail-link'],
  'accounts update': [
    '--email E',
    '--first-name F',
    '--last-name L',
    '--role R',
    '--verified true|false',
    '--disabled true|false',
    '--plan NAME|none',
    '--password-stdin',
  ],
  'keys create': [
    '--name N',
    '--expires 90d',
    '--scopes a,b',
    '--from CIDR,…',
    '--quota 1000/day',
    '--certificate FILE',
  ],
  'keys rotate': ['--grace 1h'],
  'keys revoke': ['-y, --yes', '--grace 0s'],
  'keys reset-secret': ['--grace 0s'],
  apply: ['--dry-run', '--prune', '--prune-max N', '--keys-out FILE'],
  'sessions revoke': ['--session SID'],
  'usage export': ['--from DAY', '--to DAY'],
  usage: ['--from DAY', '--to DAY', '--csv'],
  'events retry': ['--receiver URL'],
  'events test': ['--receiver URL'],
  'audit list': ['--action ACTION', '--who ID|EMAIL', '--limit N'],
  'sealing-key rotate': ['--now', '--print', '--drop', '-y, --yes'],
  'signing-keys rotate': ['--now'],
}

for (const [name, operand, printsData] of commands) {
  t.test(`${name} --help says how it is called and what it takes, without a config`, async (t) => {
    const { status, stdout, stderr } = await run(t, [...name.split(' '), '--help'], { cwd: tempFolder(t) })
    t.equal(status, 0)
    t.equal(stderr, '')
    const [usage, , summary] = stdout.split('\n')
    t.equal(usage, ['Usage: gatehouse', name, operand, '[OPTIONS]'].filter(Boolean).join(' '))
    t.match(summary, /^[A-Z].*\.$/)
    const options = [...stdout.matchAll(/^ {2}((?:-\S, )?--\S+(?: \S+)?) {2,}\S/gm)].map(
      ([, option]) => option,
    )
    const common = ['--config FILE', '--set OPTION=VALUE', '-h, --help']
    t.strictSame(options, [...(own[name] ?? []), ...(printsData ? ['--json'] : []), ...common])
  })
}

t.test('help names every command with its operands, and what the exit status means', async (t) => {
  for (const args of [['--help'], ['help']]) {
    const { status, stdout, stderr } = await run(t, args)
    t.equal(status, 0)
    t.equal(stderr, '')
    t.match(stdout, /^Usage: gatehouse COMMAND/)
    t.match(stdout, /Exit status: 0 success, 1 failure, 2 usage error/)
    const listed = [...stdout.matchAll(/^ {2}(\S+(?: \S+)*) {2,}\S/gm)].map(([, command]) => command)
    t.strictSame(
      listed,
      commands.map(([name, operand]) => `${name} ${operand}`.trim()),
    )
    for (const line of stdout.split('\n')) t.ok(line.length <= 120, line)
  }
})

t.test('--help of a first word shows the commands that begin with it', async (t) => {
  for (const args of [
    ['accounts', '--help'],
    ['help', 'accounts'],
  ]) {
    const { status, stdout } = await run(t, args)
    t.equal(status, 0)
    t.match(stdout, /^Usage: gatehouse accounts COMMAND \[OPTIONS\]\n/)
    t.match(stdout, /^ {2}create /m)
    t.match(stdout, /^Run gatehouse accounts COMMAND --help for details/m)
    t.notMatch(stdout, /rotate/, args.join(' '))
  }
})

t.test('help COMMAND shows the help of the command', async (t) => {
  const { status, stdout } = await run(t, ['help', 'keys', 'reset-secret'])
  t.equal(status, 0)
  t.match(stdout, /--grace/)
})

t.test('--version and -V print the version of the package', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
  for (const flag of ['--version', '-V']) {
    const { status, stdout } = await run(t, [flag])
    t.equal(status, 0)
    t.equal(stdout, `${version}\n`)
  }
})
