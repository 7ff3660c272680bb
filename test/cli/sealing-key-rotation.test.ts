import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import t, { type Test } from 'tap'
import type { Operator } from '#cli/operator.ts'
import { loadConfig } from '#config/load.ts'
import { openRateLimiter } from '#identity/limits/rate-limiter.ts'
import { acceptedKeys, parseSealingKeys } from '#platform/secrets/sealing-key.ts'
import { createAccountServices } from '#runtime/assembly/account-services.ts'
import { openStore } from '#store/open.ts'
import { askForReload, taken } from '../gateway/support/reload.ts'
import { startBackend } from '../setup/backend.ts'
import { startGateway, storeDrivers, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { startRedis } from '../setup/redis.ts'
import { run, start } from './run.ts'
import { createWorkspace, createWorkspaceOn, sealingKey } from './workspace.ts'

const visitor = { address: '192.0.2.1', userAgent: 'Browser/1' }
const password = 'correct horse battery'

function keysIn(file: string) {
  const keys = parseSealingKeys(readFileSync(file, 'utf8'))
  if (!keys) throw new Error('no sealing keys')
  return keys
}

/** Signing in, with the sealing keys that a file has now. */
async function withSignIn<Result>(
  gateway: TestGateway,
  keyFile: string,
  work: (services: ReturnType<typeof createAccountServices>, operator: Operator) => Promise<Result>,
): Promise<Result> {
  return gateway.operate(async (operator) => {
    const { config, store } = operator
    const clock = Date.now
    const limiter = openRateLimiter({
      store,
      storeConnection: { isUp: true },
      monotonic: clock,
      onStoreFailure: () => {},
    })
    const keys = acceptedKeys(keysIn(keyFile))
    const services = createAccountServices({
      config,
      store,
      sealingKeys: () => keys,
      limiter,
      outbox: { add: () => true, close: async () => {} } as never,
      quotas: { readUsed: async () => 0 },
      clock,
    })
    return work(services, operator).finally(() => limiter.close())
  })
}

/** Gateways on one store with one file of the sealing key: one on SQLite, two on Redis. */
async function startAll(t: Test, driver: (typeof storeDrivers)[number]) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-keys-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const keyFile = join(folder, 'sealing.key')
  writeFileSync(keyFile, sealingKey, { mode: 0o600 })
  const backend = (await startBackend(t)).url
  const config = { keys: { sealingKey: { file: keyFile } } }
  const redis = driver === 'redis' ? await startRedis(t) : undefined
  const options = { driver, backend, config, ...(redis && { redis }) }
  const first = await startGateway(t, options)
  const gateways = redis ? [first, await startGateway(t, options)] : [first]
  const rotate = (...args: readonly string[]) =>
    run(t, ['sealing-key', 'rotate', ...args, '--config', first.configFile])
  const reload = async () => {
    for (const { opsUrl } of gateways) t.match(await askForReload(opsUrl), taken)
  }
  return { first, gateways, keyFile, rotate, reload }
}

async function statusOf({ url }: TestGateway, token: string): Promise<number> {
  const response = await fetch(`${url}/bearer`, { headers: { Authorization: `Bearer ${token}` } })
  await response.text()
  return response.status
}

async function refresh(gateway: TestGateway, refreshToken: string): Promise<string> {
  const response = await gateway.post('/api/v1/accounts/refresh-token', { token: refreshToken })
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return ((await response.json()) as { readonly refreshToken: string }).refreshToken
}

for (const driver of storeDrivers) {
  t.test(`after a rotation everything opens without the old sealing key, on ${driver}`, async (t) => {
    const { first, gateways, keyFile, rotate, reload } = await startAll(t, driver)
    const ada = await first.createAccount()
    const { id, email } = ada.account
    const app = await withSignIn(first, keyFile, async ({ signIn }, { store, passwords }) => {
      const hashed = await passwords.hash(password, { client: 'a', network: 'a', isKnown: true })
      await store.setPassword(id, { password: hashed, proof: undefined, endsSessions: false })
      const account = await store.findAccount(id)
      if (!account) throw new Error('no account')
      const { secret } = signIn.factors.propose(account)
      const totp = new TOTP({ secret: Secret.fromBase32(secret) })
      const given = { code: totp.generate({ timestamp: Date.now() - 30_000 }), visitor, client: undefined }
      const codes = await signIn.factors.enable(account, { ...given, secret })
      return { totp, recovery: codes[0] ?? '' }
    })
    const pair = await first.tokens(ada)
    const idle = await first.tokens(ada)
    const before = readFileSync(keyFile, 'utf8').trim()
    const everyoneTakes = async (token: string) => {
      for (const gateway of gateways) t.equal(await statusOf(gateway, token), 200)
    }

    t.match(await rotate(), { status: 0, stdout: /seals nothing yet/ })
    t.equal(keysIn(keyFile).current.toString('base64'), before)
    t.equal(statSync(keyFile).mode & 0o777, 0o600)
    await reload()
    await everyoneTakes(pair.JwtToken)

    const resealed = await rotate('--json')
    t.match(resealed.json(), { accounts: 1, signingKeys: 1, unreadable: 0, passwords: 1, recoveryCodes: 1 })
    t.equal(keysIn(keyFile).previous?.key.toString('base64'), before)
    for (const gateway of gateways) await everyoneTakes((await gateway.tokens(ada)).JwtToken)
    // One has read the keys again and the other has not: each takes what the other signs.
    t.match(await askForReload(first.opsUrl), taken)
    let token = pair.RefreshToken
    for (const gateway of [...gateways, ...gateways]) token = await refresh(gateway, token)
    await reload()
    token = await refresh(first, token)
    await everyoneTakes(pair.JwtToken)
    t.match((await rotate('--json')).json(), { accounts: 0, signingKeys: 0, unreadable: 0 })

    const early = await rotate('--drop')
    t.match(early, {
      status: 1,
      stderr: /refresh tokens until .*passwords of 1 account.*recovery codes of 1/,
    })
    t.equal(keysIn(keyFile).previous?.key.toString('base64'), before)
    await withSignIn(first, keyFile, async ({ signIn }, { store }) => {
      const pending = await signIn.signIn({ email, password }, visitor).catch((error) => error.pending)
      t.type(pending, 'string', 'the password is right, and is hashed anew')
      const account = await store.findAccount(id)
      if (!account) throw new Error('no account')
      const given = { code: app.recovery, visitor, client: undefined }
      await signIn.factors.check(account, given)
      const next = { ...given, code: app.totp.generate() }
      app.recovery = (await signIn.factors.renewRecoveryCodes(account, next))[0] ?? ''
    })
    t.match((await rotate('--json')).json(), { passwords: 0, recoveryCodes: 0 })
    const dropped = await rotate('--drop', '--yes')
    t.match(dropped, { status: 0, stdout: /is dropped/ })
    t.notMatch(readFileSync(keyFile, 'utf8'), before)
    await reload()

    await everyoneTakes(pair.JwtToken)
    for (const gateway of gateways) token = await refresh(gateway, token)
    await t.rejects(refresh(first, idle.RefreshToken), /401/, 'one that nobody used since')
    t.equal(
      await first.operate(async ({ defaultKeys, store }) => {
        const account = await store.findAccount(id)
        return account && defaultKeys.unseal(account, 'secretKey')
      }),
      ada.secretKey,
    )
    await withSignIn(first, keyFile, async ({ signIn }, { store }) => {
      const account = await store.findAccount(id)
      if (!account) throw new Error('no account')
      const code = app.totp.generate({ timestamp: Date.now() + 30_000 })
      await signIn.factors.check(account, { code, visitor, client: undefined })
      await signIn.factors.check(account, { code: app.recovery, visitor, client: undefined })
    })
    const actions = await first.operate(({ store }) =>
      store.findAudit({ filter: { action: undefined, who: undefined }, before: undefined, limit: 99 }),
    )
    const logged = actions.entries
      .map(({ action }) => action)
      .filter((action) => action.startsWith('sealing'))
    t.strictSame(logged, ['sealing-key-dropped', 'sealing-key-rotated', 'sealing-key-added'])
  })

  t.test(`a rotation that is killed in the middle is finished by the next, on ${driver}`, async (t) => {
    const place = await createWorkspaceOn(t, driver)
    const people = Array.from({ length: 1_500 }, (_, index) => `p${index}@example.com`)
    writeFileSync(join(place.folder, 'people.csv'), ['email', ...people].join('\n'))
    t.equal((await place.run('accounts', 'import', join(place.folder, 'people.csv'))).status, 0)
    const keyFile = join(place.folder, 'data/sealing.key')
    const config = ['--config', place.config]
    const killed = start(t, ['sealing-key', 'rotate', '--now', '--json', ...config])
    const { config: read } = loadConfig({
      file: place.config,
      env: {},
    })
    const store = await openStore(read.store, 'command')
    t.teardown(() => store.close())
    await store.ready(5_000)
    await until('some accounts are resealed', async () => {
      const [newest] = await store.listAccounts({ after: undefined, limit: 1 })
      return (newest?.revision ?? 1) > 1
    })
    killed.child.kill('SIGKILL')
    t.equal((await killed.ended).stdout, '', 'it was not done')
    t.ok(keysIn(keyFile).previous)
    const again = await place.run('sealing-key', 'rotate', '--json')
    const { accounts, unreadable } = again.json() as { accounts: number; unreadable: number }
    t.ok(accounts > 0 && accounts < people.length, `${accounts} were left`)
    t.equal(unreadable, 0)
    t.equal((await place.run('sealing-key', 'rotate', '--drop', '--yes')).status, 0)
    const [one] = people
    t.match((await place.run('keys', 'show', one ?? '', '--json')).json(), { secretKey: /^gate_sk_/ })
  })
}

t.test('rotate --now seals with a new key, not with one that was announced before', async (t) => {
  const place = createWorkspace(t)
  const keyFile = join(place.folder, 'data/sealing.key')
  const email = 'ada@example.com'
  const created = await place.run('accounts', 'create', '--email', email, '--json')
  t.equal((await place.run('sealing-key', 'rotate')).status, 0)
  const announced = keysIn(keyFile)
  const rotated = await place.run('sealing-key', 'rotate', '--now', '--json')
  t.match(rotated.json(), { state: 'resealed', accounts: 1, unreadable: 0 })
  const { current, next, previous } = keysIn(keyFile)
  t.strictSame(previous?.key, announced.current)
  t.notSame(current, announced.next)
  t.equal(next, undefined)
  t.notMatch(readFileSync(keyFile, 'utf8'), announced.next?.toString('base64') ?? '')
  const { secretKey } = created.json() as { readonly secretKey: string }
  t.equal((await place.run('sealing-key', 'rotate', '--drop', '--yes')).status, 0)
  t.match((await place.run('keys', 'show', email, '--json')).json(), { secretKey })
})

t.test('--now and --drop exclude each other, whatever the state of the rotation', async (t) => {
  const place = createWorkspace(t)
  const keyFile = join(place.folder, 'data/sealing.key')
  for (const step of [[], [], ['--drop', '--yes']]) {
    t.equal((await place.run('sealing-key', 'rotate', ...step)).status, 0)
    const before = readFileSync(keyFile, 'utf8')
    t.match(await place.run('sealing-key', 'rotate', '--now', '--drop', '--yes'), {
      status: 2,
      stderr: /--now and --drop exclude each other/,
    })
    t.equal(readFileSync(keyFile, 'utf8'), before)
  }
})

t.test('a sealing key in a variable is printed instead of written', async (t) => {
  const { config, folder } = createWorkspace(t, { keys: { sealingKey: { env: 'SEALING' } } })
  const env = { SEALING: sealingKey }
  const rotate = (...args: readonly string[]) =>
    run(t, ['sealing-key', 'rotate', ...args, '--config', config], { env: { ...env }, cwd: folder })
  t.match(await rotate(), { status: 1, stderr: /is not a file[\s\S]*--print/ })
  for (const role of [/ next$/, / previous \d{4}-\d\d-\d\d$/]) {
    const { status, stdout } = await rotate('--print')
    t.equal(status, 0)
    t.match(stdout.trim(), role)
    env.SEALING = stdout
  }
  t.match((await rotate('--json')).json(), { state: 'resealed', signingKeys: 0 })
  const { stdout } = await rotate('--print', '--drop', '--yes')
  t.ok(env.SEALING.startsWith(stdout))
  env.SEALING = stdout
  t.match(await rotate('--drop'), { status: 1, stderr: /no previous sealing key/ })
})

t.test('a key that is replaced without keeping the old one is not taken by a reload', async (t) => {
  const { first, keyFile } = await startAll(t, 'sqlite')
  writeFileSync(keyFile, Buffer.alloc(32, 9).toString('base64'))
  t.match(await askForReload(first.opsUrl), {
    code: 503,
    status: 'failed',
    problems: [/does not hold the key that seals now/],
  })
  writeFileSync(keyFile, sealingKey)
  t.match(await askForReload(first.opsUrl), taken)
})

t.test('only one previous key is kept, and a key that is not a file of ours is refused', async (t) => {
  const place = createWorkspace(t, {}, { 'data/sealing.key': sealingKey })
  t.equal((await place.run('sealing-key', 'rotate', '--now')).status, 0)
  t.match(await place.run('sealing-key', 'rotate', '--now'), { status: 1, stderr: /only one/ })
  const key = Buffer.alloc(32, 1).toString('base64')
  for (const line of [
    'x',
    `${key}`,
    `${key} last`,
    `${key} previous`,
    `${key} next\n${key} next`,
    `${sealingKey} next`,
  ]) {
    writeFileSync(join(place.folder, 'data/sealing.key'), `${sealingKey}\n${line}\n`)
    t.match(await place.run('accounts', 'list'), { status: 1, stderr: /is not a sealing key/ }, line)
  }
})

t.test('check warns of a previous key that nothing needs any more', async (t) => {
  const place = createWorkspace(t)
  const key = Buffer.alloc(32, 1).toString('base64')
  const today = new Date().toISOString().slice(0, 10)
  for (const [day, isLeft] of [
    [today, false],
    ['2020-02-29', true],
  ] as const) {
    mkdirSync(join(place.folder, 'data'), { recursive: true })
    writeFileSync(join(place.folder, 'data/sealing.key'), `${sealingKey}\n${key} previous ${day}\n`, {
      mode: 0o600,
    })
    const { status, stdout, stderr } = await place.run('check')
    t.equal(status, 0)
    t.equal(/keys\.sealingKey.*replaced on 2020-02-29, is still accepted/.test(stdout + stderr), isLeft, day)
  }
})
