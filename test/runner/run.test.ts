import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { utimesSync } from 'node:fs'
import { join, relative } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '../setup/net.ts'
import { lookAgain } from '../setup/programs.ts'
import { withoutTap } from './child-process.ts'
import { runLayer } from './run-layer.ts'

// slow: starts the runner and tap many times

// A failed file is run again by tap, which takes some seconds to start.
t.setTimeout(180_000)

function runTests(...args: readonly string[]) {
  return spawnSync(process.execPath, ['test/run.ts', ...args], {
    encoding: 'utf8',
    env: withoutTap(process.env),
  })
}

const oneTest = (body: string) => `import t from 'tap'\nt.test('one', async (t) => { ${body} })\n`

/** Runs test files of this test as a layer. */
async function runOnly(t: Test, files: Readonly<Record<string, string>>) {
  const folder = t.testdir(files)
  const names = Object.keys(files).map((name) => relative('.', join(folder, name)))
  const said: string[] = []
  const say = (text: string) => void said.push(text)
  const outcome = await runLayer(names, { jobs: 1, install: false, say })
  return {
    ...outcome,
    said: said.join('\n'),
    secondTry: outcome.secondTry.map((file) => relative(folder, file)),
  }
}

t.test('a file that passes alone has failed by accident, and counts as passed', async (t) => {
  const outcome = await runOnly(t, {
    'a.test.ts': oneTest(`t.ok(process.env.TAP_CHILD_ID, 'run by tap alone'); t.ok(true)`),
    'b.test.ts': oneTest('t.ok(true)'),
  })
  t.strictSame(outcome.secondTry, ['a.test.ts'])
  t.strictSame(outcome.results.map(({ passed }) => passed).toSorted(), [1, 2])
  t.strictSame(
    outcome.results.flatMap(({ failures }) => failures),
    [],
  )
})

t.test('a file that fails again stays failed, and both times what differs is shown', async (t) => {
  const outcome = await runOnly(t, { 'a.test.ts': oneTest(`t.equal(1, 2, 'the same')`) })
  t.strictSame(outcome.secondTry, [])
  const failures = outcome.results.flatMap((result) => result.failures)
  t.strictSame(
    failures.map(({ test }) => test),
    ['one > the same'],
  )
  const [first = '', second = ''] = outcome.said.split('once more, alone:')
  for (const said of [first, second]) t.match(said, /the same\n.*a\.test\.ts.*-2\s+\+1/s)
})

t.test('a file that needs a program which is not there is one skip', async (t) => {
  const path = process.env.PATH
  t.teardown(() => {
    process.env.PATH = path
    lookAgain()
  })
  lookAgain()
  process.env.PATH = t.testdir({})
  const [result] = (
    await runLayer(['test/fronts/haproxy.test.ts'], { jobs: 1, install: false, say: () => {} })
  ).results
  t.strictSame(result?.skips, [{ test: 'test/fronts/haproxy.test.ts', reason: 'needs curl' }])
  t.strictSame(result?.failures, [])
})

t.test('the command runs one file, and ends with the counts alone on the last line', async (t) => {
  const { status, stdout } = runTests('test/platform/time.test.ts')
  t.equal(status, 0)
  t.match(stdout, /\n1 files in \d+ s\n[1-9]\d* passed, 0 failed, 0 skipped\n$/)
})

t.test('the command refuses what it does not know, and says how it is used', async (t) => {
  t.match(runTests('--fast'), { status: 2, stderr: /npm run test:all/ })
  t.match(runTests('nowhere/'), { status: 2, stderr: /No test file is called nowhere/ })
  t.match(runTests('fronts/'), { status: 2, stdout: /`npm run test:all -- fronts\/` also runs 3/ })
  t.match(runTests('--help'), { status: 0, stdout: /--watch/ })
})

t.test('--watch runs the tests that import what has changed, each time', async (t) => {
  const child = spawn(process.execPath, ['test/run.ts', '--watch', 'platform/', 'gateway/routes/'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: withoutTap(process.env),
  })
  t.teardown(async () => {
    child.kill('SIGKILL')
    await once(child, 'close')
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const says = (what: RegExp) => until(String(what), () => what.test(output) || undefined, 60_000)
  await says(/^Waiting for changes/m)
  for (const source of ['test/platform/time.test.ts', 'src/platform/time.ts']) {
    output = ''
    utimesSync(source, new Date(), new Date())
    await says(/passed, 0 failed, 0 skipped/)
    t.match(output, new RegExp(`${source}: \\d+ test files`))
  }
})
