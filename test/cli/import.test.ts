import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { storeDrivers } from '../setup/gateway.ts'
import { createWorkspaceOn } from './workspace.ts'

interface Imported {
  readonly id: string
  readonly email: string
}

for (const driver of storeDrivers) {
  t.test(`accounts import on ${driver}`, async (t) => {
    const { folder, run, runProgram } = await createWorkspaceOn(t, driver)
    const imported = async (text: string | Uint8Array, ...args: readonly string[]) => {
      writeFileSync(join(folder, 'people'), text)
      return run('accounts', 'import', 'people', ...args)
    }

    t.test('CSV with a heading makes an account of each line', async (t) => {
      const text = `email,firstName,lastName,role,isVerified
ada@example.com,Ada,Lovelace,Admin,true
"bob@example.com","Bob, the ""builder""",,,false

  cyd@example.com , Cyd ,,User,
`
      const outcome = await imported(text, '--json')
      t.equal(outcome.status, 0)
      t.equal(outcome.stderr, '')
      t.match(outcome.json(), [
        { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace', role: 'Admin', isVerified: true },
        {
          email: 'bob@example.com',
          firstName: 'Bob, the "builder"',
          lastName: '',
          role: 'User',
          isVerified: false,
        },
        { email: 'cyd@example.com', firstName: 'Cyd', lastName: '', role: 'User', isVerified: false },
      ])
      const members = ['id', 'email', 'firstName', 'lastName', 'role', 'isVerified', 'secretKey', 'apiKey']
      for (const account of outcome.json() as readonly object[]) t.strictSame(Object.keys(account), members)
    })

    t.test('CSV saved by a spreadsheet is read: byte order mark, CR LF, columns in any order', async (t) => {
      const outcome = await imported('\uFEFFrole,email\r\nOps,dan@example.com\r\n', '--json')
      t.match(outcome.json(), [{ email: 'dan@example.com', role: 'Ops' }])
    })

    t.test('JSON lines make an account of each line', async (t) => {
      const lines = [
        { email: 'eve@example.com', isVerified: true },
        { email: 'fay@example.com', lastName: 'F' },
      ]
      const text = `${lines.map((line) => JSON.stringify(line)).join('\n\n')}\n`
      const outcome = await imported(text, '--json')
      t.equal(outcome.status, 0)
      t.match(outcome.json(), [
        { email: 'eve@example.com', isVerified: true, role: 'User' },
        { email: 'fay@example.com', lastName: 'F', isVerified: false },
      ])
    })

    t.test('JSON lines behind a byte order mark are read too', async (t) => {
      const outcome = await imported('\uFEFF{"email":"gus@example.com"}\r\n', '--json')
      t.equal(outcome.status, 0)
      t.match(outcome.stdout, /gus@example\.com/)
    })

    t.test('a file gets the keys as CSV, which are the accounts in the store', async (t) => {
      const { stdout, stderr } = await imported('email\nhal@example.com\n')
      const [heading, row = '', end] = stdout.split('\r\n')
      t.equal(heading, 'id,email,secretKey,apiKey')
      t.equal(end, '')
      t.equal(stderr, '1 account imported. Save the keys: they are not shown again.\n')
      const [id = '', email, secretKey, apiKey] = row.split(',')
      t.match(await run('accounts', 'show', id, '--json'), { stdout: `"email": "${email}"` })
      t.strictSame((await run('keys', 'show', id, '--json')).json(), { secretKey, apiKey })
    })

    t.test('an e-mail in use fails the whole import, and is reported with its line', async (t) => {
      const before = (await run('accounts', 'list', '--json')).stdout
      const { status, stdout, stderr } = await imported(
        'email\nnew@example.com\nADA@example.com\nnewer@example.com\n',
      )
      t.equal(status, 1)
      t.equal(stdout, '')
      t.match(stderr, /^people:3 {2}email: ADA@example\.com already has an account$/m)
      t.match(stderr, /^gatehouse: people has 1 invalid line; nothing was imported$/m)
      t.equal((await run('accounts', 'list', '--json')).stdout, before)
    })

    t.test('of two imports at once one makes the accounts and the other none', async (t) => {
      const emails = (name: string) =>
        Array.from({ length: 200 }, (_, index) => `${name}${index}@example.com`)
      const files = {
        left: [...emails('left'), 'same@example.com'],
        right: ['same@example.com', ...emails('right')],
      }
      const outcomes = await Promise.all(
        Object.entries(files).map(([name, lines]) => {
          writeFileSync(join(folder, name), ['email', ...lines].join('\n'))
          return runProgram('accounts', 'import', name, '--json')
        }),
      )
      t.strictSame(outcomes.map(({ status }) => status).toSorted(), [0, 1])
      const winner = outcomes.find(({ status }) => status === 0)?.json() as readonly Imported[]
      const all = (await run('accounts', 'list', '--json')).json() as readonly Imported[]
      const inBoth = all.filter(({ email }) => /^(left|right|same)/.test(email)).map(({ email }) => email)
      t.strictSame(inBoth.toSorted(), winner.map(({ email }) => email).toSorted())
    })
  })
}
