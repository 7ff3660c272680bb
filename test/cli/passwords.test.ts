import t from 'tap'
import { withOperator } from '#cli/operator.ts'
import { loadConfig } from '#config/load.ts'
import { storeDrivers } from '../setup/gateway.ts'
import { listAudit } from '../store/portal-samples.ts'
import type { Input } from './run.ts'
import { createWorkspace, createWorkspaceOn } from './workspace.ts'

const good = 'correct horse battery'
const ada = 'ada@example.com'

for (const driver of storeDrivers) {
  t.test(`password commands on ${driver}`, async (t) => {
    const here = await createWorkspaceOn(t, driver)
    const create = (input: Input, email: string) =>
      here.runWith(input, 'accounts', 'create', '--email', email, '--password-stdin', '--json')
    const passwordOf = (email: string, password = good) =>
      withOperator({ file: here.config, env: {} }, async ({ accounts, passwords }) => {
        const { portal } = await accounts.get(email)
        return {
          portal,
          isGood: await passwords.verify(password, portal.password, {
            client: 'test',
            network: 'test',
            isKnown: false,
          }),
        }
      })

    t.test('a password from standard input is that of the account; no link is made', async (t) => {
      const outcome = await create(`${good}\n`, ada)
      t.equal(outcome.status, 0, outcome.stderr)
      t.notOk(Object.hasOwn(outcome.json() as object, 'setupUrl'))
      t.match(await passwordOf(ada), { isGood: true, portal: { setupLink: undefined } })
      t.notMatch(outcome.stdout + outcome.stderr, good)
    })

    t.test('a common password creates no account', async (t) => {
      for (const [input, complaint] of [
        ['short', /password: must have at least 12 characters/],
        ['x'.repeat(1_025), /password: must have at most 1024 bytes/],
        ['x'.repeat(100_000), /password: must have at most 1024 bytes/],
        ['Password1234\n', /password: is too common/],
        ['bob@example.com\n', /password: must not consist mostly of your e-mail or name/],
        ['', /standard input is empty/],
        ['\r\n', /standard input is empty/],
        [`${good}\nand more\n`, /password: must be one line/],
        [`${good}\n\n`, /password: must be one line/],
        [`${good}\rand more`, /password: must be one line/],
        ['\ufeff\n', /standard input is empty/],
        [`${good}\tand more\n`, /password: must not have control characters, such as a tab/],
        [`${good}\0`, /password: must not have control characters/],
        [`${good}\u0085`, /password: must not have control characters/],
        [[Buffer.from('corr\xe9ct horse battery\n', 'latin1')], /password: must be in UTF-8/],
      ] as const) {
        const outcome = await create(input, 'bob@example.com')
        t.not(outcome.status, 0)
        t.match(outcome.stderr, complaint)
      }
      t.match(await here.run('accounts', 'show', 'bob@example.com'), { status: 1, stderr: /no account/ })
    })

    t.test('a password may come in pieces, of which one ends within a character', async (t) => {
      const bytes = Buffer.from('corréct horse battery\n')
      const pieces = [bytes.subarray(0, 5), bytes.subarray(5)]
      t.equal((await create(pieces, 'piece@example.com')).status, 0)
      t.match(await passwordOf('piece@example.com', 'corréct horse battery'), { isGood: true })
    })

    t.test('a byte order mark before the password is not part of it', async (t) => {
      t.equal((await create(`\ufeff${good}\n`, 'marked@example.com')).status, 0)
      t.match(await passwordOf('marked@example.com'), { isGood: true })
    })

    t.test('update sets another password, with or without other changes', async (t) => {
      const update = (input: string, ...args: string[]) =>
        here.runWith(input, 'accounts', 'update', ada, '--password-stdin', ...args)
      const refused = await update('ada@example.com', '--first-name', 'Bob')
      t.match(refused, { status: 1, stderr: /password: must not consist mostly of your e-mail or name/ })
      t.match(await passwordOf(ada), { isGood: true })
      t.equal((await update('another long password')).status, 0)
      t.match(await passwordOf(ada), { isGood: false })
      t.equal((await update(`${good}\r\n`, '--first-name', 'Ada')).status, 0)
      t.match(await passwordOf(ada), { isGood: true })
      t.match(await here.run('accounts', 'show', ada), { stdout: /Name +Ada/ })
    })

    t.test('an update that is refused changes neither password nor account', async (t) => {
      const other = 'another long password'
      const input = ['accounts', 'update', ada, '--password-stdin'] as const
      await here.run('accounts', 'create', '--email', 'taken@example.com')
      const taken = await here.runWith(other, ...input, '--email', 'taken@example.com')
      t.match(taken, { status: 1, stderr: /account with this e-mail already exists/ })
      t.match(await passwordOf(ada), { isGood: true })
      // It contains the name of its owner.
      const own = await here.runWith(
        'grace-hopper',
        ...input,
        '--first-name',
        'Grace',
        '--last-name',
        'Hopper',
      )
      t.match(own, { status: 1, stderr: /password: must not consist mostly of your e-mail or name/ })
      t.match(await here.run('accounts', 'show', ada), { stdout: /Name +Ada\n/ })
    })

    t.test('setup-link makes a link to the portal of the config', async (t) => {
      const outcome = await here.run('accounts', 'setup-link', ada, '--json')
      t.equal(outcome.status, 0)
      const { setupUrl, expiresAt } = outcome.json() as { setupUrl: string; expiresAt: string }
      t.match(setupUrl, /^http:\/\/localhost:8080\/portal\/setup#gsl_[0-9A-Za-z]{16}_[0-9A-Za-z]{43}$/)
      const hours = (Date.parse(expiresAt) - Date.now()) / 3_600_000
      t.ok(hours > 23.9 && hours <= 24, `${hours} hours`)
      t.match(await here.run('accounts', 'setup-link', 'nobody@example.com'), { status: 1 })
    })

    t.test('commands are in the audit log under the name of the user who runs them', async (t) => {
      await here.run('keys', 'reset-api', ada)
      await here.run('keys', 'show', ada)
      await here.run('signing-keys', 'rotate')
      await here.run('sessions', 'revoke', ada)
      await here.run('accounts', 'delete', ada)
      const entries = await withOperator({ file: here.config, env: {} }, ({ store }) =>
        listAudit(store, { before: undefined, limit: 100 }),
      )
      t.strictSame(entries.map(({ action }) => action).toReversed(), [
        'account-created',
        'password-set',
        'account-created',
        'password-set',
        'account-created',
        'password-set',
        'password-set',
        'account-updated',
        'password-set',
        'account-created',
        'setup-link-created',
        'setup-link-created',
        'api-key-reset',
        // The secret key is shown no more since the command line has set the password.
        'key-revealed',
        'signing-key-added',
        'portal-sessions-ended',
        'sessions-ended',
        'account-deleted',
      ])
      for (const { actor } of entries) t.match(actor, { kind: 'operator', channel: 'cli', name: /./ })
    })
  })
}

t.test('without a portal no command prints a set-up link', async (t) => {
  const here = createWorkspace(t, { portal: { enabled: false } })
  t.equal(loadConfig({ file: here.config, env: {} }).config.portal.enabled, false)
  const outcome = await here.run('accounts', 'create', '--email', ada, '--json')
  t.notOk(Object.hasOwn(outcome.json() as object, 'setupUrl'))
  t.match(await here.run('accounts', 'setup-link', ada), { status: 1, stderr: /the portal is disabled/ })
})

t.test('the real program reads the password from its standard input', async (t) => {
  const here = createWorkspace(t)
  const outcome = await here.runProgram('accounts', 'create', '--email', ada, '--password-stdin')
  t.match(outcome, { status: 2, stderr: /standard input is empty/ })
})
