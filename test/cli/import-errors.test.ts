import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createWorkspace } from './workspace.ts'

const { folder, run } = createWorkspace(t)

async function imported(text: string | Uint8Array, ...args: readonly string[]) {
  writeFileSync(join(folder, 'people'), text)
  return run('accounts', 'import', 'people', ...args)
}

const header = 'email,firstName,lastName,role,isVerified'
const cases: readonly (readonly [what: string, text: string | Uint8Array, expected: readonly RegExp[]])[] = [
  [
    'every kind of bad line in a CSV, in order',
    `${header}\nok@example.com,A,B,User,true\nbad,A,B,User,true\nc@example.com,A,B\n\nd@example.com,A,B,User,true,more\ne@example.com,A,B,1,yes\nOK@example.com,,,,\n`,
    [
      /^people:3 {2}email: must be an e-mail address/,
      /^people:4 {2}has 3 columns, but the header has 5$/,
      /^people:6 {2}has 6 columns, but the header has 5$/,
      /^people:7 {2}(?=.*role: must be)(?=.*isVerified: must be true or false)/,
      /^people:8 {2}email: OK@example\.com is already on line 2$/,
    ],
  ],
  [
    'every kind of bad line among JSON lines, in order',
    '{"email":"a@example.com"}\n[]\n{"email":7,"role":{}}\n\n{"email":"A@example.com"}\nnope\n{"email":"b@example.com","isVerified":"maybe","age":7}\n{"email":"c@example.com","__proto__":1}\n{"firstName":"D"}\n"text"\n{"role":"User","role":"Admin"}\n',
    [
      /^people:2 {2}is not a JSON object$/,
      /^people:3 {2}(?=.*email: must be text)(?=.*role: must be text)/,
      /^people:5 {2}email: A@example\.com is already on line 1$/,
      /^people:6 {2}is not valid JSON$/,
      /^people:7 {2}(?=.*age: unknown field)(?=.*isVerified: must be true or false)/,
      /^people:8 {2}__proto__: unknown field$/,
      /^people:9 {2}email: must be an e-mail address/,
      /^people:10 {2}is not a JSON object$/,
      /^people:11 {2}has the member role more than once$/,
    ],
  ],
  [
    'a header without the e-mail',
    'name,role\nAda,User\n',
    [/^people:1 {2}the header must name email, and may name firstName, lastName, role, plan, isVerified$/],
  ],
  [
    'a column that is misspelt',
    'email,Role\na@example.com,User\n',
    [/^people:2 {2}Role: unknown field, did you mean "role"\?$/],
  ],
  ['no header', 'ada@example.com,Ada\n', [/^people:1 {2}the header must name email/]],
  [
    'semicolons for commas',
    'email;role\na@example.com;User\n',
    [/^people:1 {2}.*(comma|the header must name email)/],
  ],
  [
    'a column that nobody knows',
    'email,age\na@example.com,7\n',
    [/^people:[12] {2}age: unknown (field|column)/],
  ],
  ['a column without a name', 'email,\na@example.com,\n', [/^people:[12] {2}(?!: )/]],
  ['a column twice', 'email,email\na@example.com,b@example.com\n', [/^people:1 {2}.*email/]],
  [
    'a quote that is not closed',
    'email,firstName\n"a@example.com,Ada\nb@example.com,Bob\n',
    [/^people:2 {2}/],
  ],
  ['text after a closing quote', 'email\nok@example.com\n"a"b@example.com\n', [/^people:3 {2}/]],
  ['a bad record of several lines, by its first', 'email,firstName\n"bad","A\nB"\n', [/^people:2 {2}/]],
  [
    'halves of characters, of which two would be stored as one',
    '{"email":"\\ud805@x"}\n{"email":"\\ud806@x"}\n',
    [/^people:1 {2}email: must be an e-mail address/, /^people:2 {2}email: must be an e-mail address/],
  ],
  ['control characters', 'email\na\u0000b@example.com\n', [/^people:2 {2}email: must be an e-mail address/]],
  [
    'bytes that are no UTF-8 in a CSV, beside all else',
    Buffer.from(
      'email,firstName\r\nok@example.com,A\r\na@example.com,J\xfcrgen\r\nbad,B\r\n"c@example.com","C\r\n\xe9"\r\nOK@example.com,A\r\n',
      'latin1',
    ),
    [
      /^people:3 {2}is not valid UTF-8$/,
      /^people:4 {2}email: must be an e-mail address/,
      /^people:5 {2}firstName: must be/,
      /^people:6 {2}is not valid UTF-8$/,
      /^people:7 {2}email: OK@example\.com is already on line 2$/,
    ],
  ],
  [
    'bytes that are no UTF-8 among JSON lines, beside all else',
    Buffer.from(
      '{"email":"J\xfcrgen@example.com"}\n{"email":7}\n{"email":"b@example.com"}\nn\xf6\n',
      'latin1',
    ),
    [
      /^people:1 {2}is not valid UTF-8$/,
      /^people:2 {2}email: must be text/,
      /^people:4 {2}is not valid UTF-8$/,
    ],
  ],
  [
    'a header that is not UTF-8, which says nothing of the rest',
    Buffer.from('email,pr\xe9nom\na@example.com,A\nb@example.com,\xfc\n', 'latin1'),
    [/^people:1 {2}is not valid UTF-8$/, /^people:3 {2}is not valid UTF-8$/],
  ],
]

for (const [what, text, expected] of cases) {
  t.test(`every bad line is reported and nothing is imported: ${what}`, async (t) => {
    const { status, stdout, stderr } = await imported(text, '--json')
    t.equal(status, 1)
    t.equal(stdout, '')
    const lines = stderr.split('\n').filter((line) => line.startsWith('people:'))
    t.match(lines, expected)
    t.equal(lines.length, expected.length)
    t.match(stderr, /^gatehouse: people has (1 invalid line|\d+ invalid lines); nothing was imported$/m)
  })
}

t.test('an import of a file without accounts creates none, and says so', async (t) => {
  for (const text of ['', '\n\n', `${header}\n`]) {
    const stderr = 'The file has no accounts.\n'
    t.match(await imported(text), { status: 0, stdout: 'id,email,secretKey,apiKey\r\n', stderr })
    t.match(await imported(text, '--json'), { status: 0, stdout: '[]\n' })
  }
})

t.test('an unreadable import file is reported by name', async (t) => {
  t.match(await run('accounts', 'import', 'absent'), {
    status: 1,
    stderr: 'gatehouse: cannot read absent: no such file or directory\n',
  })
  t.match(await run('accounts', 'import', '.'), { status: 1, stderr: /^gatehouse: cannot read \.: / })
})

t.test('failed imports create no account', async (t) => {
  t.equal((await run('accounts', 'list', '--json')).stdout, '[]\n')
})
