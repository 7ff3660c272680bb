import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startServer } from '../setup/backend.ts'
import { type Outcome, runProgram, serve } from './run.ts'
import { createWorkspace } from './workspace.ts'

// slow: starts the gateway once for each refusal

/** Failing starts, all concurrent: each must exit on its own. */
function starts(t: Test, variants: readonly (readonly string[])[]): Promise<readonly Outcome[]> {
  return Promise.all(
    variants.map((args) => {
      const { config, folder } = createWorkspace(t)
      const file = args.includes('--config') ? [] : ['--config', config]
      return runProgram(t, ['serve', ...file, ...args], { cwd: folder })
    }),
  )
}

t.test('a port in use fails the start, and is reported with address and option', async (t) => {
  const { port } = new URL(await startServer(t, (_request, response) => response.end()))
  const settings = ['listen.port', 'ops.port'].map((option) => ['--set', `${option}=${port}`])
  for (const [index, { status, stderr }] of (await starts(t, settings)).entries()) {
    t.equal(status, 1)
    t.match(stderr, `gatehouse: cannot listen on 127.0.0.1:${port}: address already in use\n`)
    t.match(stderr, settings[index]?.[1]?.split('=')[0])
  }
})

t.test('an address not of this machine is reported with the option that names it', async (t) => {
  // RFC 5737: a documentation address, which no machine has.
  const [outcome] = await starts(t, [['--set', 'listen.host=192.0.2.1']])
  t.equal(outcome?.status, 1)
  t.match(outcome?.stderr, 'gatehouse: cannot listen on 192.0.2.1:0: ')
  t.match(outcome?.stderr, 'listen.host')
})

t.test('an unwritable data folder is reported with path and option', async (t) => {
  const paths = ['gateway.yaml/gatehouse.db', '/sys/gatehouse/gatehouse.db', '/proc/gatehouse/gatehouse.db']
  const outcomes = await starts(
    t,
    paths.map((path) => ['--set', `store.sqlite.path=${path}`]),
  )
  for (const [index, { status, stdout, stderr }] of outcomes.entries()) {
    t.equal(status, 1)
    t.equal(stdout, '', 'it never listened')
    t.match(stderr, /^gatehouse: cannot open the database \//)
    t.match(stderr, `${paths[index]}: `)
    t.match(stderr, 'store.sqlite.path')
  }
})

t.test('a bad config ends the start', async (t) => {
  const [outcome] = await starts(t, [['--set', 'listen.prot=1']])
  t.equal(outcome?.status, 1)
  t.match(outcome?.stderr, /listen\.prot: unknown option, did you mean "port"\?/)
  t.match(outcome?.stderr, /gatehouse check --config/)
})

t.test('a failed start ends the demo backend too', async (t) => {
  const { port } = new URL(await startServer(t, (_request, response) => response.end()))
  const outcomes = await starts(t, [
    ['--demo', '--set', 'listen.prot=1'],
    ['--demo', '--set', `listen.port=${port}`],
    ['--demo', '--config', 'absent.yaml'],
  ])
  for (const { status } of outcomes) t.equal(status, 1)
})

t.test('a ready file that cannot be written fails the start', async (t) => {
  const { folder } = createWorkspace(t)
  mkdirSync(join(folder, 'taken'))
  const files = ['absent/ready.json', 'gateway.yaml/ready.json', 'taken'].map((name) => join(folder, name))
  const outcomes = await starts(
    t,
    files.map((file) => ['--ready-file', file]),
  )
  for (const [index, { status, stderr }] of outcomes.entries()) {
    t.equal(status, 1)
    t.match(stderr, `gatehouse: cannot write the ready file ${files[index]}: `)
  }
  t.strictSame(readdirSync(folder).toSorted(), ['gateway.yaml', 'taken'], 'no draft is left')
})

t.test('the ready file of an earlier run does not speak for one that is not ready', async (t) => {
  const { folder, run } = createWorkspace(t)
  const readyFile = join(folder, 'ready.json')
  const { pid } = spawnSync('true')
  writeFileSync(readyFile, `{"url":"http://127.0.0.1:1","opsUrl":"http://127.0.0.1:1","pid":${pid}}\n`)
  const { status } = await run('serve', '--ready-file', readyFile, '--set', 'listen.host=192.0.2.1')
  t.equal(status, 1)
  t.notOk(existsSync(readyFile))
})

t.test('a start that is refused leaves the running gateway alone', async (t) => {
  const { config, run } = createWorkspace(t)
  const gateway = await serve(t, ['--config', config])
  const ready = readFileSync(gateway.readyFile, 'utf8')
  const taken = `listen.port=${new URL(gateway.url).port}`
  const { status } = await run('serve', '--set', taken, '--ready-file', gateway.readyFile)
  t.equal(status, 1)
  t.equal(readFileSync(gateway.readyFile, 'utf8'), ready, 'its ready file too')
  t.equal((await fetch(`${gateway.opsUrl}/readyz`)).status, 200)
  gateway.child.kill('SIGTERM')
  t.equal((await gateway.ended).status, 0)
})
