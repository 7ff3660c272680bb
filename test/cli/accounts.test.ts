import t from 'tap'
import { storeDrivers } from '../setup/gateway.ts'
import { createWorkspaceOn } from './workspace.ts'

const keyOf = (kind: string, id: string) => new RegExp(`^${kind}_${id}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$`)
const profile = ['id', 'email', 'firstName', 'lastName', 'role', 'isVerified']
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

interface Created {
  readonly id: string
  readonly secretKey: string
  readonly apiKey: string
  readonly setupUrl: string
}

for (const driver of storeDrivers) {
  t.test(`accounts commands on ${driver}`, async (t) => {
    const { run } = await createWorkspaceOn(t, driver)

    t.test('accounts list says how to create an account if there is none', async (t) => {
      const outcome = await run('accounts', 'list')
      t.equal(outcome.status, 0)
      t.match(outcome.stdout, /^No accounts yet\. Create one with: gatehouse accounts create --email E\n$/)
      t.equal((await run('accounts', 'list', '--json')).stdout, '[]\n')
    })

    t.test('create makes an account and prints its keys, as JSON exactly the promised members', async (t) => {
      const args = [
        '--email',
        'Ada@Example.com',
        '--first-name',
        'Ada',
        '--last-name',
        'L.',
        '--role',
        'Auditor',
      ]
      const outcome = await run('accounts', 'create', ...args, '--verified', '--json')
      t.equal(outcome.status, 0)
      t.equal(outcome.stderr, '')
      const { id, secretKey, apiKey, setupUrl, ...account } = outcome.json() as Created
      t.strictSame(Object.keys(outcome.json() as object), [...profile, 'secretKey', 'apiKey', 'setupUrl'])
      t.match(setupUrl, new RegExp(`^http://localhost:8080/portal/setup#gsl_${id}_[0-9A-Za-z]{43}$`))
      t.strictSame(account, {
        email: 'Ada@Example.com',
        firstName: 'Ada',
        lastName: 'L.',
        role: 'Auditor',
        isVerified: true,
      })
      t.match(id, /^[0-9A-Za-z]{16}$/)
      t.match(secretKey, keyOf('gate_sk', id))
      t.match(apiKey, keyOf('gate_ak', id))
    })

    t.test('accounts create needs only an e-mail: the role is User, and nothing is verified', async (t) => {
      const { status, stdout } = await run('accounts', 'create', '--email', 'bob@example.com')
      t.equal(status, 0)
      for (const line of [
        /^ +E-mail +bob@example\.com$/m,
        /^ +Name +-$/m,
        /^ +Role +User$/m,
        /^ +Verified +no$/m,
        /^ +Disabled +no$/m,
        /^ +Secret key +gate_sk_\w+$/m,
        /^ +API key +gate_ak_\w+$/m,
      ])
        t.match(stdout, line)
    })

    t.test('accounts create refuses a taken e-mail, whatever its case', async (t) => {
      const { status, stdout, stderr } = await run('accounts', 'create', '--email', 'ADA@example.COM')
      t.equal(status, 1)
      t.equal(stdout, '')
      t.match(stderr, /^gatehouse: An account with this e-mail already exists\./)
    })

    t.test('an account is shown by e-mail in any case, and by ID', async (t) => {
      const byEmail = await run('accounts', 'show', 'ada@example.com', '--json')
      t.equal(byEmail.status, 0)
      const account = byEmail.json() as Record<string, unknown>
      t.strictSame(Object.keys(account), [...profile, 'disabled', 'plan', 'createdAt'])
      t.match(account, { email: 'Ada@Example.com', disabled: false, createdAt: isoTime })
      const byId = await run('accounts', 'show', String(account.id))
      t.match(byId.stdout, /^ +E-mail +Ada@Example\.com$/m)
      t.notMatch(byId.stdout, /gate_sk_|gate_ak_/, 'never its keys')
    })

    t.test('update changes what is named and nothing else', async (t) => {
      const before = (await run('accounts', 'show', 'ada@example.com', '--json')).json() as object
      const args = ['--role', 'Ops', '--disabled', 'true', '--verified', 'false', '--first-name', '']
      const outcome = await run('accounts', 'update', 'ada@example.com', ...args, '--json')
      t.equal(outcome.status, 0)
      t.strictSame(outcome.json(), {
        ...before,
        role: 'Ops',
        disabled: true,
        isVerified: false,
        firstName: '',
      })
      const renamed = await run('accounts', 'update', 'ada@example.com', '--email', 'ada@new.example')
      t.match(renamed.stdout, /^Account updated:\n[\s\S]* +E-mail +ada@new\.example$/m)
      t.equal((await run('accounts', 'show', 'ada@example.com')).status, 1, 'the old e-mail is free')
    })

    t.test('an account cannot take the e-mail of another, but may change the case of its own', async (t) => {
      const taken = await run('accounts', 'update', 'bob@example.com', '--email', 'Ada@new.example')
      t.equal(taken.status, 1)
      t.match(taken.stderr, /account with this e-mail already exists/)
      const updated = await run(
        'accounts',
        'update',
        'bob@example.com',
        '--email',
        'Bob@example.com',
        '--json',
      )
      t.match(updated.json(), { email: 'Bob@example.com' })
    })

    t.test('accounts list has every account, in columns by default', async (t) => {
      const { stdout } = await run('accounts', 'list')
      const [heading, ...rows] = stdout.trimEnd().split('\n')
      t.match(heading, /^ID +E-MAIL +ROLE +VERIFIED +DISABLED +PLAN +LAST ACTIVE$/)
      t.match(rows.toSorted(byEmail), [
        /^\w{16} {2}ada@new\.example +Ops +no +yes +- +-$/,
        /^\w{16} {2}Bob@example\.com +User +no +no +- +-$/,
      ])
      const list = (await run('accounts', 'list', '--json')).json() as readonly object[]
      for (const account of list)
        t.strictSame(Object.keys(account), [...profile, 'disabled', 'plan', 'createdAt', 'lastActiveOn'])
      t.equal(list.length, 2)
    })

    t.test('accounts list shows only what passes its options, in their order', async (t) => {
      const emailsOf = async (...options: readonly string[]) => {
        const { stdout } = await run('accounts', 'list', ...options, '--csv')
        return stdout
          .trimEnd()
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(',')[1])
      }
      t.strictSame(await emailsOf('--search', 'OB@EX'), ['Bob@example.com'])
      t.strictSame(await emailsOf('--role', 'Ops', '--disabled', 'true'), ['ada@new.example'])
      t.strictSame(await emailsOf('--role', 'Ops', '--disabled', 'false'), [])
      t.strictSame(await emailsOf('--plan', 'none', '--sort', 'email'), [
        'ada@new.example',
        'Bob@example.com',
      ])
      t.strictSame(await emailsOf('--inactive-since', '2000-01-01'), [])
      t.equal((await run('accounts', 'list', '--role', 'Nobody')).stdout, 'No account matches.\n')
      for (const [option, value, message] of [
        ['--disabled', 'maybe', /--disabled must be true or false/],
        ['--sort', 'age', /--sort must be one of newest, oldest, email/],
        ['--active-since', 'yesterday', /--active-since must be a day such as 2026-11-23/],
      ] as const) {
        const { status, stderr } = await run('accounts', 'list', option, value)
        t.equal(status, 2)
        t.match(stderr, message)
      }
    })

    t.test('delete removes an account once', async (t) => {
      const first = await run('accounts', 'delete', 'ada@new.example')
      t.equal(first.status, 0)
      t.match(first.stdout, /^Account \w{16} \(ada@new\.example\) deleted\.\n$/)
      const again = await run('accounts', 'delete', 'ada@new.example')
      t.equal(again.status, 1)
      t.match(again.stderr, /^gatehouse: There is no account with this ID or e-mail\./)
      const asJson = await run('accounts', 'delete', 'bob@example.com', '--json')
      t.strictSame(Object.keys(asJson.json() as object), ['id'])
      t.equal((await run('accounts', 'list', '--json')).stdout, '[]\n')
    })
  })
}

function byEmail(a: string, b: string): number {
  return a.slice(18).localeCompare(b.slice(18))
}

for (const driver of storeDrivers) {
  t.test(`commands leave an Admin on ${driver}`, async (t) => {
    const { run } = await createWorkspaceOn(t, driver)
    await run('accounts', 'create', '--email', 'ada@example.com', '--role', 'Admin')
    const attempts = [
      ['update', 'ada@example.com', '--role', 'User'],
      ['update', 'ada@example.com', '--disabled', 'true'],
      ['delete', 'ada@example.com', '--yes'],
    ]
    for (const args of attempts) {
      const outcome = await run('accounts', ...args)
      t.equal(outcome.status, 1)
      t.match(outcome.stderr, /No enabled Admin would be left\./)
    }
    await run('accounts', 'create', '--email', 'bob@example.com', '--role', 'Admin')
    for (const args of attempts.slice(1)) t.equal((await run('accounts', ...args)).status, 0)
  })
}
