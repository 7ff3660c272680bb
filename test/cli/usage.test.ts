import t from 'tap'
import { run, tempFolder } from './run.ts'
import { createWorkspace } from './workspace.ts'

const cases: readonly (readonly [what: string, args: readonly string[], expected: RegExp])[] = [
  ['no command', [], /^Usage: gatehouse COMMAND/],
  [
    'an unknown option alone',
    ['-v'],
    /^gatehouse: unknown option "-v"\n {2}See: gatehouse --help; -V prints/,
  ],
  [
    'a misspelt option alone',
    ['--verison'],
    /^gatehouse: unknown option "--verison", did you mean "--version"\?/,
  ],
  ...['--config=gateway.yaml', '--set=listen.port=1', '--json', '--demo'].map((option) => {
    const [name] = option.split('=')
    const text = `^gatehouse: the command comes first, ${name} after it\\n  See: gatehouse --help`
    return [`${option} without a command`, [option], new RegExp(text)] as const
  }),
  [
    'an option with its value before the command',
    ['--config=gateway.yaml', 'check'],
    /^gatehouse: the command comes first, --config after it\n/,
  ],
  [
    '--version before a command',
    ['--version', 'serve'],
    /^gatehouse: the command comes first, --version after it\n/,
  ],
  ['an unknown command', ['restart'], /^gatehouse: unknown command "restart"\n/],
  ['a misspelt command', ['chekc'], /unknown command "chekc", did you mean "check"\?/],
  ['a misspelt second word', ['accounts', 'crate'], /"accounts crate", did you mean "accounts create"\?/],
  ['a misspelt first word', ['acounts', 'list'], /did you mean "accounts/],
  ['help for an unknown command', ['nonsense', '--help'], /^gatehouse: unknown command "nonsense"\n/],
  [
    'help for an unknown second word',
    ['accounts', 'nonsense', '-h'],
    /^gatehouse: unknown command "accounts nonsense"/,
  ],
  [
    'a command without its second word',
    ['signing-keys'],
    /^Usage: gatehouse signing-keys COMMAND[\s\S]*rotate/,
  ],
  ['an option before the command', ['--config', 'gateway.yaml', 'check'], /--config/],
  [
    'an option between the words of a command',
    ['keys', '--json', 'list', 'a@example.com'],
    /^gatehouse: the command comes first, --json after it\n {2}See: gatehouse keys list --help/,
  ],
  [
    'an option with a value between the words of a command',
    ['accounts', '--config', 'gateway.yaml', 'show'],
    /^gatehouse: the command comes first, --config after it\n {2}See: gatehouse accounts show --help/,
  ],
  [
    'a misspelt second word after an option',
    ['keys', '--json', 'lst'],
    /"keys lst", did you mean "keys list"\?/,
  ],
  ['a name that every object has', ['constructor'], /unknown command "constructor"/],
  ['an unknown option', ['check', '--nope'], /^gatehouse check: [Uu]nknown option '--nope'/],
  ['a misspelt option', ['serve', '--demmo'], /--demmo.*did you mean "?--demo/s],
  ['an option of another command', ['check', '--email', 'a@example.com'], /[Uu]nknown option '--email'/],
  ['JSON from a command without data', ['serve', '--json'], /[Uu]nknown option '--json'/],
  ['an option without its value', ['keys', 'reset-secret', 'a@example.com', '--grace'], /--grace/],
  ['an option that takes no value', ['check', '--json=yes'], /--json.*does not take/],
  ['an option in place of a value', ['check', '--config', '--json'], /--config/],
  [
    'a list in two options',
    ['keys', 'create', 'a@example.com', '--name', 'ci', '--scopes', 'a', '--scopes', 'b'],
    /^gatehouse keys create: --scopes may be given only once\n/,
  ],
  [
    'a common option twice',
    ['check', '--config', 'a.yaml', '--config=b.yaml'],
    /--config may be given only once/,
  ],
  ['a ready file without a name', ['serve', '--ready-file', ''], /--ready-file must be a path/],
  ['an operand too many', ['check', 'gateway.yaml'], /unexpected argument "gateway\.yaml"/],
  ['an operand too few', ['accounts', 'show'], /ID\|EMAIL is missing/],
  ['two operands for one', ['signing-keys', 'retire', 'a', 'b'], /unexpected argument "b"/],
  ['an account without e-mail', ['accounts', 'create'], /--email is missing/],
  ['an update of nothing', ['accounts', 'update', 'a@example.com'], /nothing to update/],
  [
    'a value neither true nor false',
    ['accounts', 'update', 'a@example.com', '--disabled', 'yes'],
    /--disabled must be true or false/,
  ],
  [
    'a grace without unit',
    ['keys', 'reset-secret', 'a@example.com', '--grace', '60'],
    /--grace must be from 0s to 30d/,
  ],
  [
    'a grace beyond 30 days',
    ['keys', 'reset-secret', 'a@example.com', '--grace', '31d'],
    /--grace must be from 0s to 30d/,
  ],
  [
    'a negative grace',
    ['keys', 'reset-secret', 'a@example.com', '--grace=-1s'],
    /--grace must be from 0s to 30d/,
  ],
]

for (const [what, args, expected] of cases) {
  t.test(`bad usage is reported on stderr with exit status 2: ${what}`, async (t) => {
    // A folder without a config: usage is checked before anything is read.
    const { status, stdout, stderr } = await run(t, args, { cwd: tempFolder(t) })
    t.equal(status, 2)
    t.equal(stdout, '')
    t.match(stderr, expected)
    t.match(stderr, /Usage: gatehouse|See: gatehouse .*--help/, 'it says where to read on')
  })
}

t.test('an operand may begin with a dash, as IDs of keys do', async (t) => {
  const { run } = createWorkspace(t)
  for (const args of [['-c1-_x'], ['--json', '-c1-_x']]) {
    const { status, stderr } = await run('signing-keys', 'retire', ...args)
    t.equal(status, 1)
    t.match(stderr, /^gatehouse: there is no signing key -c1-_x\n/)
  }
})

t.test('a flag may be repeated, and so may an option that takes several values', async (t) => {
  const { run } = createWorkspace(t)
  const several = [
    '-H',
    'Accept: a/b',
    '-H',
    'Accept: c/d',
    '--set',
    'log.level=warn',
    '--set',
    'log.level=info',
  ]
  t.match(await run('explain', 'GET', '/', ...several, '--json', '--json'), { status: 0, stderr: '' })
})

t.test('-h shows help too', async (t) => {
  for (const args of [['-h'], ['check', '-h']]) {
    const { status, stdout } = await run(t, args)
    t.equal(status, 0)
    t.match(stdout, /^Usage: gatehouse/)
  }
})
