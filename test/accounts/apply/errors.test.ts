import t from 'tap'
import { applyMax, type DesiredKey, findStateErrors } from '#accounts/apply/desired-state.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { makeCertificate } from '../../setup/certificates.ts'
import { openApply, refusalOf, sha256Of } from './support.ts'

const email = 'ada@example.com'

function errorsIn(state: unknown): readonly string[] {
  return findStateErrors(state, { accountsMax: 3, planNames: ['pro'] }).map(({ field }) => field)
}

t.test('all errors of a file are found at once, each with its path', async (t) => {
  const digest = sha256Of('AKIA-one')
  const { cert } = makeCertificate(t, 'DNS:a', 'a')
  t.strictSame(
    errorsIn({
      name: 'not a name',
      accounts: [
        {
          email: 'nobody',
          role: '1',
          plan: 'gold',
          keys: [
            { name: 'default' },
            { name: 'a', scopes: ['a', 'a'], addresses: ['x'], expiresAt: 'tomorrow', digest: 'abcd' },
            { name: 'a', digest },
            { name: 'b', digest, certificate: cert },
            { name: 'c', certificate: 'x' },
          ],
        },
        { email, keys: [{ name: 'a', digest: Buffer.from(digest, 'hex').toString('base64') }] },
        { email: email.toUpperCase() },
      ],
    }),
    [
      'name',
      'accounts.0.email',
      'accounts.0.role',
      'accounts.0.plan',
      'accounts.0.keys.0.name',
      'accounts.0.keys.1.scopes',
      'accounts.0.keys.1.addresses',
      'accounts.0.keys.1.expiresAt',
      'accounts.0.keys.1.digest',
      'accounts.0.keys.2.name',
      'accounts.0.keys.3.certificate',
      'accounts.0.keys.4.certificate',
      'accounts.1.keys.0.digest',
      'accounts.2.email',
    ],
  )
})

t.test('values of a wrong type are left to the schema', async (t) => {
  for (const state of [undefined, [], 'x', {}, { accounts: 'x' }, { accounts: [1, { email: 1, keys: 1 }] }])
    t.strictSame(errorsIn(state), [])
  t.strictSame(errorsIn({ accounts: [{ email, keys: [1, { name: 1, scopes: 'x', digest: 1 }] }] }), [])
})

t.test('a file has a limited number of accounts', async (t) => {
  const many = (count: number) => ({
    accounts: Array.from({ length: count }, (_, index) => ({ email: `user${index}@example.com` })),
  })
  t.strictSame(errorsIn(many(3)), [])
  t.strictSame(errorsIn(many(4)), ['accounts'])
  t.strictSame(errorsIn(many(50_000)), ['accounts'])
  t.ok(applyMax.api < applyMax.command)
})

t.test('a hundred errors are reported, and the number of the others', async (t) => {
  const { run } = await openApply(t)
  const wrong = (count: number) => ({ accounts: Array.from({ length: count }, () => ({ email: 'x' })) })
  const errorsOf = async (count: number) => {
    const error = await run(wrong(count), { accountsMax: 1_000 }).catch((error: unknown) => error)
    return error instanceof GatehouseError ? (error.errors ?? []) : []
  }
  // No account has a valid e-mail, and all but the first repeat it.
  t.equal((await errorsOf(50)).length, 99)
  t.equal((await errorsOf(51)).length, 101)
  t.match((await errorsOf(51)).at(-1), { message: 'and 1 more errors' })
  t.match((await errorsOf(500)).at(-1), { message: 'and 899 more errors' })
})

t.test('errors that depend on the store are found before anything is changed', async (t) => {
  const { run, accounts } = await openApply(t)
  const key = (name: string, changes: Partial<DesiredKey> = {}) => ({ name, ...changes })
  await run({
    accounts: [
      {
        email,
        keys: [key('a', { digest: sha256Of('AKIA-one') }), key('b', { digest: sha256Of('AKIA-two') })],
      },
    ],
  })
  const before = await accounts.get(email)
  const refused = await refusalOf(
    run({
      accounts: [
        { email, firstName: 'Ada', keys: [key('c', { digest: sha256Of('AKIA-one') })] },
        { email: 'bob@example.com', keys: [key('a', { digest: sha256Of('AKIA-two') })] },
        { email: 'cyd@example.com', keys: [key('a', { expiresAt: '2020-01-01T00:00:00Z' })] },
      ],
    }),
  )
  t.strictSame(refused, [
    'accounts.0.keys.0.digest',
    'accounts.1.keys.0.digest',
    'accounts.2.keys.0.expiresAt',
  ])
  t.strictSame(await accounts.get(email), before)
})

t.test('an account cannot get more keys than it may have', async (t) => {
  const { run } = await openApply(t)
  const withKeys = (...names: readonly string[]) => ({
    accounts: [{ email, keys: names.map((name) => ({ name })) }],
  })
  t.strictSame(await refusalOf(run(withKeys('a', 'b', 'c', 'd'))), ['accounts.0.keys'])
  t.match(await run(withKeys('a', 'b', 'c')), { failure: undefined })
  t.strictSame(await refusalOf(run(withKeys('d'))), ['accounts.0.keys'])
  t.strictSame(await refusalOf(run(withKeys(...Array.from({ length: 500 }, (_, index) => `k${index}`)))), [
    'accounts.0.keys',
  ])
})

t.test('a key made from a certificate expires with it', async (t) => {
  const { run, accounts, time } = await openApply(t)
  time.now = Date.now()
  const { cert } = makeCertificate(t, 'DNS:b', 'b')
  const state = (changes: Partial<DesiredKey> = {}) => ({
    accounts: [{ email, keys: [{ name: 'laptop', certificate: cert, ...changes }] }],
  })
  t.match(await run(state()), { keys: [{ name: 'default' }], failure: undefined })
  const [, key] = (await accounts.get(email)).secretKeys
  t.match(key, { name: 'laptop', isImported: true })
  t.match(await run(state({ expiresAt: null })), { changes: [] })
  const end = key?.expiresAt ?? 0
  const later = new Date(end + 1_000).toISOString()
  t.strictSame(await refusalOf(run(state({ expiresAt: later }))), ['accounts.0.keys.0.expiresAt'])
  const earlier = new Date(time.now + 60_000).toISOString()
  t.match(await run(state({ expiresAt: earlier })), { changes: [{ action: 'update-key' }] })
  time.now = end + 1_000
  t.match(await run(state({ expiresAt: earlier })), { changes: [] }, 'that it is over changes nothing')
  const other = { accounts: [{ email: 'bob@example.com', keys: [{ name: 'laptop', certificate: cert }] }] }
  t.strictSame(await refusalOf(run(other)), ['accounts.0.keys.0.certificate'])
})
