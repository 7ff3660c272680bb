import t from 'tap'
import { hasMoreLines, readImportFile } from '#accounts/import-file.ts'

const ada = {
  email: 'ada@example.com',
  firstName: 'Ada',
  lastName: 'Lovelace',
  role: 'Admin',
  isVerified: true,
}
const bare = { email: 'bare@example.com', firstName: '', lastName: '', role: 'User', isVerified: false }

function parseImportFile(text: string) {
  return readImportFile(Buffer.from(text))
}

t.test('CSV and JSON Lines import the same accounts', async (t) => {
  const csv =
    'email,firstName,lastName,role,isVerified\nada@example.com,Ada,Lovelace,Admin,true\nbare@example.com,,,,\n'
  const json = `${JSON.stringify(ada)}\n{"email":"bare@example.com"}\n`
  t.strictSame(await parseImportFile(csv), {
    accounts: [
      { line: 2, input: ada },
      { line: 3, input: bare },
    ],
    badLines: [],
  })
  t.strictSame(await parseImportFile(json), {
    accounts: [
      { line: 1, input: ada },
      { line: 2, input: bare },
    ],
    badLines: [],
  })
})

t.test('import files may have LF or CR LF as line breaks, and a byte order mark', async (t) => {
  const csv = 'email,firstName,lastName,role,isVerified\nada@example.com,Ada,Lovelace,Admin,true\n'
  const json = `${JSON.stringify(ada)}\n\n`
  const forms = {
    'CSV with CR LF': csv.replaceAll('\n', '\r\n'),
    'CSV with a byte order mark': `\ufeff${csv}`,
    'CSV with quotes': csv.replaceAll(/[^,\n]+/g, '"$&"'),
    'CSV with spaces': csv.replaceAll(',', ' , '),
    'CSV with its columns in another order':
      'isVerified,role,email,lastName,firstName\ntrue,Admin,ada@example.com,Lovelace,Ada',
    'JSON lines with CR LF': json.replaceAll('\n', '\r\n'),
    'JSON lines with a byte order mark': `\ufeff${json}`,
    'JSON lines after an empty line': `\n  ${json}`,
  }
  for (const [name, text] of Object.entries(forms)) {
    const { accounts, badLines } = await parseImportFile(text)
    t.strictSame(badLines, [], name)
    t.strictSame(
      accounts.map(({ input }) => input),
      [ada],
      name,
    )
  }
})

t.test('a CR alone ends no line, as on the command line', async (t) => {
  const { accounts, badLines } = await parseImportFile(
    'email\r\na@example.com\rb@example.com\nc@example.com\n',
  )
  t.match(badLines, [{ line: 2, message: /email/ }])
  t.match(accounts, [{ line: 3, input: { email: 'c@example.com' } }])
})

t.test('every bad line of a JSON Lines import is reported with all its problems', async (t) => {
  const lines = [
    JSON.stringify(ada),
    '{"email":',
    '[]',
    'null',
    '{"email":"x","role":"","firstName":5}',
    '{"email":"a@b.c","isVerified":"yes"}',
    '{"email":"a@b.c","__proto__":{"role":"Admin"},"Role":"Admin"}',
    '{"email":"ADA@example.com"}',
    '{}',
    '{"email":"d@example.com","role":"User","r\\u006fle":"Admin"}',
  ]
  const { accounts, badLines } = await parseImportFile(lines.join('\n'))
  t.strictSame(
    accounts.map(({ line }) => line),
    [1],
  )
  const expected = [
    [2, /not valid JSON/],
    [3, /not a JSON object/],
    [4, /not a JSON object/],
    [5, /firstName: must be text.*email: must be/],
    [6, /isVerified: must be true or false/],
    [7, /__proto__: unknown field.*Role: unknown field/],
    [8, /email: ADA@example\.com is already on line 1/],
    [9, /email: must be/],
    [10, /has the member role more than once/],
  ] as const
  t.strictSame(
    badLines.map(({ line }) => line),
    expected.map(([line]) => line),
  )
  for (const [index, [, message]] of expected.entries()) t.match(badLines[index]?.message, message)
})

t.test('every bad line of a CSV import is reported', async (t) => {
  const csv = [
    'email,firstName,lastName,role',
    'ada@example.com,Ada,Lovelace',
    'bob@example.com,Bob,Builder,User,extra',
    'nobody,,,',
    'eve@example.com,,,Two Words',
    'good@example.com,,,',
  ].join('\n')
  const { accounts, badLines } = await parseImportFile(csv)
  t.strictSame(
    badLines.map(({ line }) => line),
    [2, 3, 4, 5],
  )
  t.match(
    badLines.map(({ message }) => message),
    [/3 columns, but the header has 4/, /5 columns/, /email: must/, /role: must/],
  )
  t.strictSame(
    accounts.map(({ line }) => line),
    [6],
  )
})

t.test('a wrong CSV header is reported as line 1', async (t) => {
  for (const header of ['mail,name', 'ada@example.com,Ada', '[{"email":"ada@example.com"}]', '<html>']) {
    const { accounts, badLines } = await parseImportFile(`${header}\nx,y\n`)
    t.strictSame(accounts, [])
    t.match(badLines, [{ line: 1, message: /header/ }])
  }
  t.match((await parseImportFile('email,password\na@b.c,x\n')).badLines, [
    { line: 2, message: /password: unknown field/ },
  ])
})

t.test('an unclosed quote is a bad line, not a crash', async (t) => {
  const csv = 'email,firstName\n"ada@example.com,Ada\nbob@example.com,Bob\n'
  const { badLines } = await parseImportFile(csv)
  t.ok(badLines.length > 0)
  t.ok(badLines.every(({ line }) => line >= 2))
})

t.test('import line numbers count all lines, however they end', async (t) => {
  for (const end of ['\n', '\r\n', '\r']) {
    const text = [`a`, '', ' b ', '  \t', 'c', ''].join(end)
    t.strictSame(
      [2, 3].map((max) => hasMoreLines(text, max)),
      [true, false],
      JSON.stringify(end),
    )
  }
  t.equal(hasMoreLines('', 0), false)
})

t.test('an empty import file has no accounts', async (t) => {
  for (const text of ['', '\n', '\r\n \n', 'email\n', '\ufeff']) {
    t.strictSame((await parseImportFile(text)).accounts, [], JSON.stringify(text))
  }
  t.strictSame((await parseImportFile('email\n')).badLines, [])
})
