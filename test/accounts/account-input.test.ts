import t from 'tap'
import { type AccountInput, assertValid, findFieldErrors } from '#accounts/account-input.ts'
import { emailKey } from '#store/accounts.ts'

const input: AccountInput = {
  email: 'ada@example.com',
  firstName: 'Ada',
  lastName: 'Lovelace',
  role: 'User',
  isVerified: false,
}

function wrongFields(changes: Partial<AccountInput>): readonly string[] {
  return findFieldErrors({ ...input, ...changes }).map(({ field }) => field)
}

const hostOf = (length: number) => `@${'x'.repeat(length - 5)}.com`

t.test('an e-mail has exactly one @ inside and at most 254 characters', async (t) => {
  const right = [
    'a@b',
    'Ada.Lovelace+tag@sub.example.com',
    "o'neil@example.com",
    'käthe@bücher.example',
    'a@127.0.0.1',
    'a'.repeat(64) + hostOf(190),
  ]
  for (const email of right) t.strictSame(wrongFields({ email }), [], email)
  t.equal('a'.repeat(64).length + hostOf(190).length, 254)
  for (const email of ['a'.repeat(65) + hostOf(190), `a${hostOf(1_000_000)}`]) {
    t.strictSame(wrongFields({ email }), ['email'], `${email.length} characters`)
  }
})

t.test('a malformed e-mail is refused', async (t) => {
  const wrong = [
    '',
    '@',
    'a@',
    '@b',
    'a',
    'a@b@c',
    'a b@c',
    'a@b c',
    ' a@b',
    'a@b ',
    'a@b\n',
    'a\r\nBcc: x@y',
    '"a"@b',
    '<a@b>',
    'a@b, c@d',
    'a@[::1]',
    'a@b:25',
    'a\\@b',
    'a@b;c',
  ]
  for (const email of wrong) t.strictSame(wrongFields({ email }), ['email'], JSON.stringify(email))
})

t.test('a control character in an e-mail or name is refused', async (t) => {
  const codes = [0, 7, 9, 10, 13, 27, 31, 127, 128, 133, 159, 0x2028, 0x2029]
  const places: Record<string, (character: string) => Partial<AccountInput>> = {
    'a first name': (character) => ({ firstName: `A${character}a` }),
    'a last name': (character) => ({ lastName: `A${character}a` }),
    'an e-mail': (character) => ({ email: `a${character}a@b.c` }),
    'the host of an e-mail': (character) => ({ email: `a@b${character}b.c` }),
  }
  for (const [place, changes] of Object.entries(places)) {
    const taken = codes.filter((code) => wrongFields(changes(String.fromCharCode(code))).length === 0)
    t.strictSame(taken, [], place)
  }
})

t.test('an invisible or direction-changing character in an e-mail or name is refused', async (t) => {
  const bidi = [
    0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069,
  ]
  const invisible = [0x00ad, 0x180e, 0x200b, 0x2060, 0x2063, 0xfeff, 0xfff9, 0xe0001, 0xe0041]
  for (const code of [...bidi, ...invisible]) {
    const name = `A${String.fromCodePoint(code)}a`
    const wrong = wrongFields({ email: `${name}@example.com`, firstName: name, lastName: name })
    t.strictSame(wrong, ['email', 'firstName', 'lastName'], `U+${code.toString(16)}`)
  }
  for (const name of [
    '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
    '\u0915\u094d\u200d\u0937',
    '\u05d0\u05d1',
    '\ud83d\ude00',
  ]) {
    t.strictSame(
      wrongFields({ firstName: name, lastName: name }),
      [],
      `${name}: joiners belong to some scripts`,
    )
  }
})

t.test('a lone surrogate is refused in every field', async (t) => {
  for (const half of ['\ud805', '\udc00', '\udc00\ud805', 'a\ud805a']) {
    const wrong = wrongFields({ email: `${half}@x`, firstName: half, lastName: half, role: `A${half}` })
    t.strictSame(wrong, ['email', 'firstName', 'lastName', 'role'], JSON.stringify(half))
    t.strictSame(wrongFields({ email: `a@${half}` }), ['email'])
  }
  t.strictSame(wrongFields({ email: '\ud83d\ude00@x', firstName: '\ud83d\ude00' }), [], 'two halves are one')
})

t.test('a name has up to 100 characters of any script, or none', async (t) => {
  for (const name of ['', 'Ada', '名前', "O'Neil-Smith, Jr.", '<b>', 'x'.repeat(100)]) {
    t.strictSame(wrongFields({ firstName: name, lastName: name }), [], name)
  }
  for (const length of [101, 10_000_000]) {
    const name = 'x'.repeat(length)
    t.strictSame(wrongFields({ firstName: name, lastName: name }), ['firstName', 'lastName'])
  }
})

t.test('a role is a word of 1 to 64 letters, digits, _, . or -', async (t) => {
  for (const role of ['User', 'Admin', 'a', 'A.b-c_d9', 'x'.repeat(64)]) {
    t.strictSame(wrongFields({ role }), [], role)
  }
  for (const role of [
    '',
    ' User',
    'User ',
    'User\n',
    '9a',
    '-a',
    'a b',
    'a,b',
    'Ädmin',
    'a/b',
    'x'.repeat(65),
    'x'.repeat(1_000_000),
  ]) {
    t.strictSame(wrongFields({ role }), ['role'], JSON.stringify(role.slice(0, 80)))
  }
})

t.test('all wrong fields of an account are reported at once, with what is expected', async (t) => {
  const errors = findFieldErrors({
    email: '',
    firstName: '\n',
    lastName: 'x'.repeat(101),
    role: '',
    isVerified: true,
  })
  t.strictSame(
    errors.map(({ field }) => field),
    ['email', 'firstName', 'lastName', 'role'],
  )
  for (const { message } of errors) t.match(message, /^must be /)
  t.throws(() => assertValid({ email: '', role: '' }), {
    code: 'request-invalid',
    status: 400,
    errors: [{ field: 'email' }, { field: 'role' }],
  })
})

t.test('an absent field of an account is not a problem', async (t) => {
  t.strictSame(findFieldErrors({}), [])
  t.doesNotThrow(() => assertValid({}))
})

t.test('of e-mails that differ only in case, at most one can be given to a second account', async (t) => {
  const faultsOf = (email: string) => findFieldErrors({ email }).map(({ field }) => field)
  const accepted = [
    ...['\u01F0x@q.test', 'j\u030Cx@q.test', '\u1E96a@q.test', 'I\u0307@q.test', '\u0130@q.test'],
    ...[
      'ας@q.test',
      'ΑΣ@q.test',
      'σ@q.test',
      'Σ@q.test',
      'σοφία.κώστας@σας.gr',
      'x@straße.example',
      'ÉMILE@q.test',
    ],
  ]
  for (const email of accepted) t.strictSame(faultsOf(email), [], email)
  for (const email of [
    'J\u030Cx@q.test',
    'H\u0331a@q.test',
    'ασ@q.test',
    'x@σασ.gr',
    'ς@q.test',
    'α.ς@q.test',
  ])
    t.strictSame(faultsOf(email), ['email'], email)
  for (const email of accepted) {
    const others = [
      email.toUpperCase(),
      email.toLowerCase(),
      email.normalize('NFD'),
      email.toUpperCase().normalize('NFD'),
    ]
    for (const other of others.filter((each) => faultsOf(each).length === 0 && !each.includes('SS')))
      t.equal(emailKey(other), emailKey(email), `${email} and ${other}`)
  }
})
