import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { type StoreDriver, storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { redisCommand, startRedis } from '../setup/redis.ts'
import { serve, tempFolder } from './run.ts'
import { createWorkspace, createWorkspaceOn, sealingKey, type Workspace } from './workspace.ts'

// uses: redis-server

const email = 'ada@example.com'

/** An empty store, and the sealing key that all of them have here. */
async function createEmpty(t: Test, driver: StoreDriver): Promise<Workspace> {
  return driver === 'sqlite'
    ? createWorkspace(t, {}, { 'data/sealing.key': sealingKey })
    : createWorkspaceOn(t, driver)
}

/** A store with an account, and the path of a backup that is not there yet. */
async function createFilled(t: Test, driver: StoreDriver = 'sqlite') {
  const workspace = await createEmpty(t, driver)
  const created = await workspace.run('accounts', 'create', '--email', email, '--role', 'Admin', '--json')
  const { secretKey } = created.json() as { readonly secretKey: string }
  return { ...workspace, file: join(tempFolder(t), 'gatehouse.backup'), secretKey }
}

/** Each adapter writes a backup, and reads one of the other. */
const moves = [
  ['sqlite', 'sqlite'],
  ['sqlite', 'redis'],
  ['redis', 'sqlite'],
] as const

for (const [from, to] of moves) {
  t.test(`a backup of ${from} beside a gateway is restored into ${to}, where its keys work`, async (t) => {
    const source = await createFilled(t, from)
    const gateway = await serve(t, ['--config', source.config], { cwd: source.folder })
    const written = await source.run('store', 'backup', source.file, '--json')
    t.match(written, { status: 0, stderr: '' })
    t.match(written.json(), { file: source.file, accounts: 1, bytes: statSync(source.file).size })
    t.equal(statSync(source.file).mode & 0o777, 0o600)
    t.notMatch(readFileSync(source.file, 'utf8'), source.secretKey)
    gateway.child.kill('SIGTERM')
    await gateway.ended

    const target = await createEmpty(t, to)
    t.match(await target.run('store', 'restore', source.file), {
      status: 0,
      stdout: /^Restored .*: 1 account\.\n$/,
      stderr: '',
    })
    t.match((await target.run('keys', 'show', email, '--json')).json(), { secretKey: source.secretKey })
    t.match(await target.run('audit', 'verify'), { status: 0 })
    t.match((await target.run('audit', 'list', '--action', 'store-restored', '--json')).json(), [
      { action: 'store-restored', details: { accounts: 1 } },
    ])
    const restored = await serve(t, ['--config', target.config], { cwd: target.folder })
    const answer = await fetch(restored.url, { headers: { SecretKey: source.secretKey } })
    t.equal(answer.status, 502, 'it is accepted; there is no backend')
  })
}

t.test('a backup goes through standard output and standard input', async (t) => {
  const source = await createFilled(t)
  const { stdout, stderr, status } = await source.run('store', 'backup', '-')
  t.equal(status, 0)
  t.match(stderr, /^Backed up: 1 account, \d+ records in all, \d+ bytes\.\n$/)
  t.match(JSON.parse((await source.run('store', 'backup', '-', '--json')).stderr), { accounts: 1 })
  const target = await createEmpty(t, 'sqlite')
  const halves = [stdout.slice(0, 500), Buffer.from(stdout.slice(500))]
  t.match((await target.runWith(halves, 'store', 'restore', '-', '--json')).json(), { accounts: 1 })
  t.match(await target.run('accounts', 'show', email), { status: 0 })
})

t.test('a backup overwrites nothing, and one that fails leaves no file', async (t) => {
  const source = await createFilled(t)
  writeFileSync(source.file, 'precious')
  t.match(await source.run('store', 'backup', source.file), {
    status: 1,
    stderr: /gatehouse\.backup exists already: a backup overwrites nothing\n {2}Choose another name/,
  })
  t.equal(readFileSync(source.file, 'utf8'), 'precious')
  const nowhere = join(source.folder, 'no/such/folder')
  t.match(await source.run('store', 'backup', nowhere), { status: 1, stderr: /cannot write .*no such file/ })

  rmSync(source.file)
  const database = new DatabaseSync(join(source.folder, 'data/gatehouse.db'))
  database.exec("UPDATE accounts SET portal = '{'")
  database.close()
  await t.rejects(source.run('store', 'backup', source.file))
  t.notOk(existsSync(source.file))
})

for (const driver of storeDrivers) {
  t.test(
    `a store on ${driver} that is not empty is left as it is, and a file that is no backup too`,
    async (t) => {
      const source = await createFilled(t, driver)
      await source.run('store', 'backup', source.file)
      const refused = await source.run('store', 'restore', source.file)
      t.match(refused, {
        status: 1,
        stderr: /^gatehouse: the store is not empty: .*; nothing was restored\n {2}.*store\./,
      })
      t.match((await source.run('keys', 'show', email, '--json')).json(), { secretKey: source.secretKey })

      const target = await createEmpty(t, driver)
      const text = readFileSync(source.file, 'utf8')
      for (const [content, reason] of [
        [text.replace(email, 'eve@example.com'), /is damaged: its checksum is wrong; nothing was restored/],
        [text.slice(0, -100), /is damaged: .*; nothing was restored/],
        ['email\nada@example.com\n', /is not a backup of Gatehouse/],
        ['', /its end is missing, so it is not complete/],
      ] as const) {
        writeFileSync(source.file, content)
        t.match(await target.run('store', 'restore', source.file), { status: 1, stderr: reason })
      }
      t.match(await target.run('store', 'restore', join(source.folder, 'none')), {
        status: 1,
        stderr: /cannot read/,
      })
      writeFileSync(source.file, text)
      t.match(await target.run('store', 'restore', source.file), { status: 0 }, 'it is still empty')
    },
  )
}

t.test('no command uses what a killed restore has left; the next restore does not mind it', async (t) => {
  const { url, port } = await startRedis(t)
  const store = { driver: 'redis', redis: { url } }
  const { config, run } = createWorkspace(t, { store }, { 'data/sealing.key': sealingKey })
  const created = await run('accounts', 'create', '--email', email, '--role', 'Admin', '--json')
  await run('signing-keys', 'rotate')
  const file = join(tempFolder(t), 'gatehouse.backup')
  await run('store', 'backup', file)
  // A restore writes the ID last.
  await redisCommand(port, 'DEL gh:{account}:store-id')
  await redisCommand(port, 'SET gh:{account}:restore "killed 1"')

  for (const args of [
    ['accounts', 'list'],
    ['accounts', 'show', email],
    ['accounts', 'update', email, '--role', 'User'],
    ['keys', 'list', email],
    ['keys', 'show', email],
    ['sessions', 'revoke', email],
    ['signing-keys', 'list'],
    ['audit', 'list'],
    ['store', 'backup', `${file}.other`],
  ]) {
    const refused = await run(...args)
    t.match(refused, { status: 1, stdout: '' }, args.join(' '))
    t.match(refused.stderr, /^gatehouse: a restore into this Redis has not finished/m, args.join(' '))
  }
  const gateway = await serve(t, ['--config', config])
  const { secretKey } = created.json() as { readonly secretKey: string }
  const send = async () => (await fetch(gateway.url, { headers: { SecretKey: secretKey } })).status
  t.equal(await send(), 503)
  t.equal((await fetch(`${gateway.opsUrl}/readyz`)).status, 503)

  t.match(await run('store', 'restore', file), { status: 0, stdout: /1 account/ })
  t.match(await run('accounts', 'show', email), { status: 0, stdout: /Role +Admin/ })
  await until('the gateway uses it', async () => (await send()) === 502 || undefined)
})

t.test('another sealing key than that of the backup is said, as nothing sealed opens with it', async (t) => {
  const source = await createFilled(t)
  await source.run('signing-keys', 'rotate')
  await source.run('store', 'backup', source.file)
  const other = createWorkspace(t, {}, { 'data/sealing.key': Buffer.alloc(32, 8).toString('base64') })
  t.match(await other.run('store', 'restore', source.file), {
    status: 0,
    stderr:
      /^gatehouse: the signing key \S+ cannot be unsealed .*\n {2}Before the gateway starts, put the sealing key/,
  })
  const { folder, run } = await createFilled(t)
  await run('store', 'backup', join(folder, 'accounts'))
  const third = createWorkspace(t, {}, { 'data/sealing.key': Buffer.alloc(32, 8).toString('base64') })
  t.match(await third.run('store', 'restore', join(folder, 'accounts')), {
    status: 0,
    stderr: /^gatehouse: the keys of accounts cannot be unsealed .*\n {2}Before the gateway starts/,
  })
  const without = createWorkspace(t)
  t.match(await without.run('store', 'restore', source.file), {
    status: 0,
    stderr: /cannot read the sealing key .*\n {2}Before the gateway starts, put the sealing key/,
  })
  t.notOk(existsSync(join(without.folder, 'data/sealing.key')), 'and none is made')
})

t.test('a backup needs no sealing key on SQLite', async (t) => {
  const source = await createFilled(t)
  rmSync(join(source.folder, 'data/sealing.key'))
  t.match(await source.run('store', 'backup', source.file), { status: 0 })
  t.notOk(existsSync(join(source.folder, 'data/sealing.key')))
})

t.test('a signal lets the work clean up, and then ends the process', async (t) => {
  const script = `
    const { stoppable, until } = await import('${new URL('../../src/cli/signals.ts', import.meta.url)}')
    async function* forever() { for (;;) { await new Promise(setImmediate); yield 1 } }
    await stoppable(async (stop) => {
      console.log('begun')
      try { for await (const _ of until(stop, forever())); } finally { console.log('cleaned up') }
    })`
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: {},
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (text.includes('begun')) child.kill(signal)
    })
    await once(child, 'close')
    t.equal(output, 'begun\ncleaned up\n')
    t.equal(child.signalCode, signal)
  }
})
