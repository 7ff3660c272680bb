import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startGateway, storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { run } from './run.ts'

const digestOf = (key: string, encoding: 'hex' | 'base64' | 'base64url' = 'hex') =>
  createHash('sha256').update(key).digest(encoding)

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
t.teardown(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'keys')

for (const driver of storeDrivers) {
  t.test(`keys import beside a running gateway on ${driver}`, async (t) => {
    // Asking until a key works counts as failures.
    const config = { limits: { failures: { limit: 10_000, per: '1m' } } }
    const gateway = await startGateway(t, { driver, config })
    const [{ account }, { account: other }] = [await gateway.createAccount(), await gateway.createAccount()]
    const gatehouse = (...args: readonly string[]) => run(t, [...args, '--config', gateway.configFile])
    const imported = (text: string, ...args: readonly string[]) => {
      writeFileSync(file, text)
      return gatehouse('keys', 'import', file, ...args)
    }
    // The backend is down: 502 means authenticated, 401 rejected.
    const statusOf = async (key: string) =>
      (await fetch(`${gateway.url}/key`, { headers: { SecretKey: key } })).status

    t.test('an imported key works without a restart, in every encoding of its digest', async (t) => {
      t.equal(await statusOf('AKIA-one'), 401)
      const outcome = await imported(
        `account,digest,name,expires,scopes,quota
${account.email},${digestOf('AKIA-one')},one,,,20/month
${account.id},${digestOf('AKIA-two', 'base64')},two,2030-01-31T00:00:00Z,,
"${other.id}",${digestOf('AKIA-three', 'base64url')},three,,orders:read orders:write,
`,
        '--json',
      )
      t.equal(outcome.stderr, '')
      t.strictSame(outcome.json(), { lines: 3, added: 3, present: 0, refused: 0 })
      await until('the change has its effect', async () => (await statusOf('AKIA-one')) === 502)
      t.equal(await statusOf('AKIA-two'), 502)
      t.equal(await statusOf('AKIA-three'), 403, 'its scopes limit it')
      t.equal(await statusOf('AKIA-four'), 401)
      t.match((await gatehouse('usage', account.id)).stdout, /^Key one: \d+ of 20 requests this month/)
    })

    t.test('a value between quotes may have several lines, as in an import of accounts', async (t) => {
      const text = `account,digest,name\n${account.id},${digestOf('AKIA-x')},"two\nlines"\n`
      t.match((await imported(text)).stderr, /keys:2 {2}name: must be 1 to 64 letters/)
    })

    t.test('importing a file again changes nothing', async (t) => {
      const line = { account: account.id, digest: digestOf('AKIA-one'), name: 'one', quota: '20/month' }
      const outcome = await imported(`${JSON.stringify(line)}\n\n`, '--json')
      t.strictSame(outcome.json(), { lines: 1, added: 0, present: 1, refused: 0 })
    })

    t.test('a line with another name or other limits than those of its key is refused', async (t) => {
      const before = (await gatehouse('keys', 'list', account.id, '--json')).stdout
      const outcome = await imported(
        `account,digest,name,expires,scopes,quota
${account.id},${digestOf('AKIA-one')},first,,,20/month
${account.id},${digestOf('AKIA-two')},two,2031-01-31T00:00:00Z,orders:read,
${other.id},${digestOf('AKIA-three')},three,,orders:write orders:read,
${account.id},${digestOf('AKIA-five')},five,,,
`,
      )
      t.equal(outcome.status, 1)
      t.match(outcome.stderr, /keys:2 {2}digest: the account has this key with other values \(name\): use /)
      t.match(
        outcome.stderr,
        /keys:3 {2}digest: .* with other values \(scopes, expires\): use gatehouse apply/,
      )
      t.match(outcome.stderr, /has 2 invalid lines; nothing was imported/)
      t.equal((await gatehouse('keys', 'list', account.id, '--json')).stdout, before)

      await imported(`account,digest,name\n${account.id},${digestOf('AKIA-leaving')},left\n`)
      await gatehouse('keys', 'revoke', account.id, 'left', '--grace', '1h')
      const revoked = await imported(`account,digest,name\n${account.id},${digestOf('AKIA-leaving')},left\n`)
      t.match(revoked, {
        status: 1,
        stderr: /keys:2 {2}digest: the account has this key, which is being revoked/,
      })
    })

    t.test('a digest on two lines is refused before anything is imported', async (t) => {
      const outcome = await imported(
        `account,digest,name
${account.id},${digestOf('AKIA-five')},five
${account.id},${digestOf('AKIA-five', 'base64')},six
${other.id},${digestOf('AKIA-five')},seven
`,
      )
      t.equal(outcome.status, 1)
      t.match(
        outcome.stderr,
        /keys:3 {2}digest: is already on line 2\n.*keys:4 {2}digest: is already on line 2\n/,
      )
      t.match(outcome.stderr, /has 2 invalid lines; nothing was imported/)
      t.equal(await statusOf('AKIA-five'), 401)
    })

    t.test('a key that was revoked since is added again', async (t) => {
      await gatehouse('keys', 'revoke', account.id, 'two', '--yes')
      await until('the change has its effect', async () => (await statusOf('AKIA-two')) === 401)
      const again = await imported(
        `account,digest,name\n${account.id},${digestOf('AKIA-two')},two\n`,
        '--json',
      )
      t.strictSame(again.json(), { lines: 1, added: 1, present: 0, refused: 0 })
      await until('the change has its effect', async () => (await statusOf('AKIA-two')) === 502)
    })

    t.test('every wrong line is named, and nothing is imported', async (t) => {
      const good = `${account.id},${digestOf('AKIA-five')},five,`
      const outcome = await imported(
        `account,digest,name,expires
${good}
${account.id},abcd,six,
nobody,${digestOf('AKIA-six')},six,
${other.id},${digestOf('AKIA-one')},six,
${account.id},${digestOf('AKIA-seven')},one,
${account.id},${digestOf('AKIA-eight')},six,tomorrow
${account.id},${digestOf('AKIA-eight')},six,2020-01-01T00:00:00Z
${account.id},${digestOf('AKIA-eight')},default,
${account.id},${digestOf('AKIA-six')}
`,
      )
      t.equal(outcome.status, 1)
      t.match(outcome.stderr, /keys:3 {2}digest: must be a SHA-256, .*; it has 4 characters/)
      t.match(outcome.stderr, /keys:4 {2}account: there is no such account/)
      t.match(outcome.stderr, /keys:5 {2}digest: another account has this key/)
      t.match(outcome.stderr, /keys:6 {2}name: the account has another key of this name/)
      t.match(outcome.stderr, /keys:7 {2}expires: must be a time/)
      t.match(outcome.stderr, /keys:8 {2}expires: must be in the future/)
      t.match(outcome.stderr, /keys:9 {2}name: "default"/)
      t.match(outcome.stderr, /keys:10 {2}has 2 columns, but the header has 4/)
      t.match(outcome.stderr, /has 8 invalid lines; nothing was imported/)
      t.equal(await statusOf('AKIA-five'), 401)
    })

    t.test('a file without the columns, or that is not there, is refused', async (t) => {
      t.match((await imported('id,sha\n1,2\n')).stderr, /keys:1 {2}the header must name account, digest/)
      t.match((await gatehouse('keys', 'import', join(folder, 'none'))).stderr, /cannot read .*none/)
    })

    t.test('the keys of a disabled or deleted account are refused', async (t) => {
      await gatehouse('accounts', 'update', account.id, '--disabled', 'true')
      await until('the change has its effect', async () => (await statusOf('AKIA-two')) !== 502)
      t.equal(await statusOf('AKIA-two'), 403, 'disabled')
      await gatehouse('accounts', 'delete', account.id)
      await until('the change has its effect', async () => (await statusOf('AKIA-two')) === 401)
    })
  })

  t.test(`beyond the failure limit no key is looked up on ${driver}`, async (t) => {
    const gateway = await startGateway(t, {
      driver,
      config: { limits: { failures: { limit: 3, per: '1m' } } },
    })
    const { account } = await gateway.createAccount()
    writeFileSync(file, `account,digest,name\n${account.id},${digestOf('AKIA-one')},one\n`)
    t.equal((await run(t, ['keys', 'import', file, '--config', gateway.configFile])).status, 0)
    const statusOf = async (key: string) =>
      (await fetch(`${gateway.url}/key`, { headers: { SecretKey: key } })).status
    for (const key of ['made-up-1', 'made-up-2', 'made-up-3']) t.equal(await statusOf(key), 401)
    t.equal(await statusOf('made-up-4'), 429)
    t.equal(await statusOf('AKIA-one'), 429, 'which of them is right is not found out')
  })
}
