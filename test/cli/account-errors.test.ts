import t from 'tap'
import { createWorkspace } from './workspace.ts'

const { run } = createWorkspace(t)

t.before(async () => {
  await run('accounts', 'create', '--email', 'ada@example.com')
})

const wrong: readonly (readonly [what: string, args: readonly string[], expected: RegExp])[] = [
  ['no e-mail at all', ['--email', ''], /email: must be an e-mail address of at most 254 characters/],
  ['an e-mail without an at sign', ['--email', 'ada'], /email: must be an e-mail address/],
  ['an e-mail with two at signs', ['--email', 'a@b@c'], /email: must be an e-mail address/],
  ['an e-mail with a name before it', ['--email', 'Ada <a@b>'], /email: must be an e-mail address/],
  ['an e-mail with a line break', ['--email', 'a@b\nc'], /email: must be an e-mail address/],
  ['an e-mail that moves the cursor', ['--email', 'a\u001bc@b'], /email: must be an e-mail address/],
  ['an e-mail of 255 characters', ['--email', `${'a'.repeat(253)}@b`], /email: must be an e-mail address/],
  [
    'a role with a space',
    ['--email', 'b@b', '--role', 'Power User'],
    /role: must be 1 to 64 letters, digits/,
  ],
  ['an empty role', ['--email', 'b@b', '--role', ''], /role: must be 1 to 64 letters, digits/],
  ['a role of 65 characters', ['--email', 'b@b', '--role', 'R'.repeat(65)], /role: must be 1 to 64 letters/],
  [
    'a name with a line break',
    ['--email', 'b@b', '--first-name', 'A\nB'],
    /first-?name: must be at most 100/i,
  ],
  [
    'a name of 101 characters',
    ['--email', 'b@b', '--last-name', 'L'.repeat(101)],
    /last-?name: must be at most 100/i,
  ],
]

for (const [what, args, expected] of wrong) {
  t.test(`accounts create refuses a bad field and names it: ${what}`, async (t) => {
    const { status, stdout, stderr } = await run('accounts', 'create', ...args)
    t.equal(status, 1)
    t.equal(stdout, '')
    t.match(stderr, expected)
  })
}

t.test('accounts update refuses bad fields like accounts create, and then changes nothing', async (t) => {
  const before = await run('accounts', 'show', 'ada@example.com', '--json')
  const changes = ['--email', 'ada', '--role', '', '--first-name', 'A\nB', '--last-name', 'Lovelace']
  const { status, stdout, stderr } = await run('accounts', 'update', 'ada@example.com', ...changes)
  t.equal(status, 1)
  t.equal(stdout, '')
  for (const field of [/^ +email: /m, /^ +role: /m, /^ +first-?name: /im]) t.match(stderr, field)
  t.equal((await run('accounts', 'show', 'ada@example.com', '--json')).stdout, before.stdout)
})

t.test('accounts create reports all problems at once, in terms of its options', async (t) => {
  const { stderr } = await run('accounts', 'create', '--email', 'a', '--role', '1', '--first-name', '\n')
  for (const field of [/^ +email: /m, /^ +role: /m, /^ +first-?name: /im]) t.match(stderr, field)
  t.match(stderr, /^gatehouse: invalid values:\n/)
  t.notMatch(stderr, /request/i)
})

t.test('accounts create takes values of the greatest length', async (t) => {
  const email = `${'a'.repeat(252)}@b`
  const args = ['--email', email, '--role', 'R'.repeat(64), '--first-name', 'F'.repeat(100)]
  const outcome = await run('accounts', 'create', ...args, '--last-name', 'L'.repeat(100), '--json')
  t.equal(outcome.status, 0)
  t.match(outcome.json(), { email, role: 'R'.repeat(64), firstName: 'F'.repeat(100) })
})

const named: readonly (readonly string[])[] = [
  ['accounts', 'show'],
  ['accounts', 'update', '--role', 'Ops'],
  ['accounts', 'delete'],
  ['keys', 'reset-secret'],
  ['keys', 'reset-api'],
  ['keys', 'show'],
  ['sessions', 'list'],
  ['sessions', 'revoke'],
]

for (const [index, command] of named.entries()) {
  t.test(`${command.join(' ')} of an account that is not there is refused`, async (t) => {
    const who = index % 2 === 0 ? 'nobody@example.com' : 'AAAAAAAAAAAAAAAA'
    const { status, stdout, stderr } = await run(...command, who, '--json')
    t.equal(status, 1)
    t.equal(stdout, '')
    t.match(stderr, /^gatehouse: There is no account with this ID or e-mail\./)
  })
}
