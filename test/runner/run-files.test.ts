import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '../setup/net.ts'
import type { FileResult } from './results.ts'
import { runFiles } from './run-files.ts'

// slow: starts many processes, and waits for those that hang

// Each of these starts processes, some of which have to time out.
t.setTimeout(180_000)

const missingProgram = join(import.meta.dirname, '../setup/missing-program.ts')

const head = `import t from 'tap'
`
const passing = `${head}
t.test('one', async (t) => {
  t.ok(true)
  await t.test('within', async (t) => t.equal(1, 1))
})
t.test('two', async (t) => t.ok(true))
`

/** Test files in a folder of this test, run by one process as long as it lasts. @returns results by file name */
async function runAll(
  t: Test,
  files: Readonly<Record<string, string>>,
  { allowedMs = 60_000, alone = [] as readonly string[], timed = [] as readonly string[] } = {},
): Promise<Readonly<Record<string, FileResult>>> {
  const folder = t.testdir(files)
  const nameOf = (file: string) => relative(folder, file).replace('.test.ts', '')
  const results: Record<string, FileResult> = {}
  await runFiles(
    Object.keys(files).map((name) => relative('.', join(folder, name))),
    {
      jobs: 1,
      allowedMs,
      isAlone: (file) => alone.includes(nameOf(file)),
      isTimed: (file) => timed.includes(nameOf(file)),
      onResult: (result) => {
        const earlier = results[nameOf(result.file)]
        const failures = [...(earlier?.failures ?? []), ...result.failures]
        results[nameOf(result.file)] = { ...(earlier ?? result), failures }
      },
    },
  )
  return results
}

const good = (passed: number) => ({ passed, failures: [], skips: [] })

/** A result without what differs from run to run. */
function plain(result: FileResult | undefined) {
  const { passed, failures, skips } = result ?? { passed: -1, failures: [], skips: [] }
  return { passed, failures, skips }
}

const failuresOf = (result: FileResult | undefined) => result?.failures.map(({ test }) => test)
const detailOf = (result: FileResult | undefined) =>
  result?.failures.map(({ test, detail }) => `${test}\n${detail}`).join('\n') ?? ''

t.test(
  'coverage is measured in the processes of files that take no times, and of what they start',
  async (t) => {
    const before = process.env.NODE_V8_COVERAGE
    t.teardown(() => {
      if (before === undefined) delete process.env.NODE_V8_COVERAGE
      else process.env.NODE_V8_COVERAGE = before
    })
    const folder = t.testdir()
    process.env.NODE_V8_COVERAGE = folder
    const startsAnother = `${head}
import { execFileSync } from 'node:child_process'
execFileSync(process.execPath, ['--eval', '0'], { env: {} })
t.pass()`
    const results = await runAll(
      t,
      { 'a.test.ts': passing, 'b.test.ts': startsAnother, 'c.test.ts': startsAnother },
      { timed: ['c'] },
    )
    for (const [name, passed] of [
      ['a', 3],
      ['b', 1],
      ['c', 1],
    ] as const)
      t.strictSame(plain(results[name]), good(passed))
    const left = readdirSync(folder).filter((name) => name.startsWith('coverage-'))
    t.equal(left.length, 2, 'one process for a and b, and one that b has started')
  },
)

t.test('assertions, failures and skips belong to their file, though files share a process', async (t) => {
  const results = await runAll(t, {
    'a.test.ts': passing,
    'b.test.ts': `${head}
globalThis.seen = process.pid
t.test('outer', async (t) => {
  t.ok(true)
  await t.test('inner', async (t) => t.strictSame({ a: 1 }, { a: 2 }, 'the same'))
})`,
    'c.test.ts': `${head}
t.equal(globalThis.seen, process.pid, 'the process of the file before')
t.test('not here', { skip: 'needs nginx' }, async (t) => t.fail())
t.test('nor this', { skip: true }, async (t) => t.fail())`,
  })
  t.strictSame(plain(results.a), good(3))
  t.equal(results.b?.passed, 1)
  t.strictSame(failuresOf(results.b), ['outer > inner > the same'])
  t.match(detailOf(results.b), /b\.test\.ts:6\n.*-\s+"a": 2.*\+\s+"a": 1/s, 'says where, and what differs')
  const skips = [
    { test: 'not here', reason: 'needs nginx' },
    { test: 'nor this', reason: 'no reason is given' },
  ]
  t.strictSame(plain(results.c), { passed: 1, failures: [], skips })
})

t.test('what the tests of a file held is collected before the process ends', async (t) => {
  const helper = join(import.meta.dirname, '../setup/collect-garbage.ts')
  const results = await runAll(t, {
    'a.test.ts': `${head}
t.test('one', async (t) => {
  const held = { large: true }
  globalThis.held = new WeakRef(held)
  await t.test('within', async (t) => t.ok(held))
})`,
    'b.test.ts': `${head}
import { collectGarbage } from '${helper}'
t.test('one', async (t) => {
  await collectGarbage()
  t.equal(globalThis.held.deref(), undefined)
})`,
  })
  t.strictSame(plain(results.b), good(1), detailOf(results.b))
})

t.test('what a file tears down, and what it says of every test, ends with it', async (t) => {
  const marker = join(t.testdirName, 'torn-down')
  const results = await runAll(t, {
    'a.test.ts': `${head}
import { writeFileSync } from 'node:fs'
let begun = 0
t.beforeEach(() => { begun++; globalThis.begun = begun })
t.teardown(() => writeFileSync(${JSON.stringify(marker)}, ''))
t.test('one', async (t) => t.equal(begun, 1))`,
    'b.test.ts': `${head}
import { existsSync, readdirSync, readFileSync } from 'node:fs'
t.ok(existsSync(${JSON.stringify(marker)}))
t.test('one', async (t) => t.equal(globalThis.begun, 1, 'the hook of the other file is not called'))`,
  })
  t.ok(existsSync(marker))
  t.strictSame([plain(results.a), plain(results.b)], [good(1), good(2)])
})

t.test('a helper that imports tap asserts for the file that is running', async (t) => {
  const helper = `${head}export const check = () => t.test('by the helper', async (t) => t.ok(true))`
  const folder = t.testdir({ 'helper.ts': helper })
  const file = `import { check } from ${JSON.stringify(join(folder, 'helper.ts'))}\ncheck()`
  await t.test('run', async (t) => {
    const results = await runAll(t, { 'a.test.ts': file, 'b.test.ts': file })
    t.strictSame([plain(results.a), plain(results.b)], [good(1), good(1)])
  })
})

const ends: readonly (readonly [what: string, source: string, detail: RegExp, allowedMs?: number])[] = [
  ['throws while it is loaded', `throw new Error('at load')`, /at load/],
  ['cannot be loaded', `import 'no-such-module'`, /no-such-module/],
  ['throws in a test', `t.test('one', async () => { throw new Error('thrown') })`, /a\.test\.ts:2/],
  [
    'throws where nobody catches it',
    `t.test('one', () => new Promise(() => setTimeout(() => { throw new Error('uncaught') })))`,
    /ended with status [1-9]\d*\n.*a\.test\.ts:2.*uncaught/s,
  ],
  [
    'leaves a rejection to nobody',
    `t.test('one', () => new Promise(() => void Promise.reject(new Error('unhandled'))))`,
    /ended with status [1-9]\d*\n.*unhandled/s,
  ],
  ['has no end', `t.test('one', () => new Promise(() => setInterval(() => {}, 1_000)))`, /timeout!/, 5_000],
  ['blocks its process', 'for (;;);', /no end within [\d.]+ s: the process was killed/, 3_000],
  [
    'crashes',
    `process.stderr.write('last words'); process.kill(process.pid, 'SIGSEGV')`,
    /SIGSEGV\nlast words/,
  ],
  ['ends its process', `t.test('one', async () => process.exit(3))`, /the process ended with status \d/],
  ['ends its process as if all were well', 'process.exit(0)', /the process ended with status \d/],
  ['breaks its plan', `t.test('one', (t) => { t.plan(2); t.ok(true); t.end() })`, /./],
]

for (const [what, source, detail, allowedMs = 60_000] of ends) {
  t.test(`a file that ${what} is a failure of its own, and those after it run`, async (t) => {
    const files = { 'a.test.ts': `${head}${source}`, 'b.test.ts': passing }
    const results = await runAll(t, files, { allowedMs })
    t.ok((results.a?.failures.length ?? 0) > 0)
    t.match(detailOf(results.a), detail)
    t.strictSame(plain(results.b), good(3))
  })
}

t.test('what a file has started ends with its process, if that is killed', async (t) => {
  const pidFile = join(t.testdirName, 'pid')
  const started = `import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
const { pid } = spawn('sleep', ['600'], { stdio: ['ignore', 'inherit', 'inherit'] })
writeFileSync(${JSON.stringify(pidFile)}, String(pid))
process.kill(process.pid, 'SIGKILL')`
  const results = await runAll(t, { 'a.test.ts': started, 'b.test.ts': passing })
  t.match(detailOf(results.a), /SIGKILL/)
  t.strictSame(plain(results.b), good(3))
  const pid = Number(readFileSync(pidFile, 'utf8'))
  await until('it is gone', () => isGone(pid) || undefined)
})

/** Or nobody has asked yet how it ended: then it still has a number. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return /^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

t.test('a file may ask for more time than usual', async (t) => {
  const source = `${head}
t.setTimeout(60_000)
t.test('longer', async (t) => { await new Promise((resolve) => setTimeout(resolve, 3_500)); t.ok(true) })`
  const results = await runAll(t, { 'a.test.ts': source }, { allowedMs: 3_000 })
  t.strictSame(plain(results.a), good(1))
})

t.test('what a file prints and asserts after its end does not get lost in others', async (t) => {
  const results = await runAll(t, {
    'a.test.ts': `${head}
t.test('one', async (t) => {
  t.ok(true)
  setTimeout(() => { console.log('ok 1 - forged'); t.ok(false, 'too late') }, 50)
})`,
    'b.test.ts': `${head}
t.test('long enough', async (t) => { await new Promise((resolve) => setTimeout(resolve, 300)); t.ok(true) })`,
  })
  t.equal((results.a?.passed ?? 0) + (results.b?.passed ?? 0), 2)
  t.match(detailOf(results.b), /after Promise resolution/, 'said when it is known, after the next file')
})

t.test('what keeps a process from ending is a failure', async (t) => {
  const source = `${head}
import { createServer } from 'node:net'
t.test('one', async (t) => { createServer().listen(0); t.ok(true) })`
  const results = await runAll(t, { 'a.test.ts': source })
  t.match(detailOf(results.a), /did not end by itself: .*TCPServerWrap/)
})

t.test('a program that is not there is a skip, in a test and for a whole file', async (t) => {
  const throwing = `import { assertProgram } from ${JSON.stringify(missingProgram)}\n`
  const results = await runAll(t, {
    'a.test.ts': `${head}${throwing}
t.test('without', async (t) => { assertProgram('no-such-program'); t.fail() })
t.test('with', async (t) => t.ok(true))`,
    'b.test.ts': `${head}${throwing}assertProgram('no-such-program')\nt.fail()`,
  })
  t.match(plain(results.a), { passed: 1, skips: [{ reason: 'needs no-such-program' }] })
  t.match(plain(results.b), { passed: 0, skips: [{ reason: 'needs no-such-program' }] })
  t.strictSame([failuresOf(results.a), failuresOf(results.b)], [[], []])
})

t.test('a file that has to be alone gets a process of its own, after the others', async (t) => {
  const order = `globalThis.loaded = (globalThis.loaded ?? 0) + 1; t.equal(globalThis.loaded, `
  const results = await runAll(
    t,
    { 'a.test.ts': `${head}${order}1)`, 'b.test.ts': `${head}${order}1)`, 'c.test.ts': `${head}${order}2)` },
    { alone: ['a'] },
  )
  t.strictSame(Object.keys(results), ['b', 'c', 'a'])
  t.strictSame(
    Object.values(results).flatMap((result) => result.failures),
    [],
  )
})

t.test('several processes run all files once', async (t) => {
  const names = Array.from({ length: 9 }, (_, index) => `${index}.test.ts`)
  const folder = t.testdir(Object.fromEntries(names.map((name) => [name, passing])))
  const seen: string[] = []
  const results = await runFiles(
    names.map((name) => join(relative('.', folder), name)),
    {
      jobs: 3,
      isAlone: () => false,
      onResult: ({ file }) => void seen.push(relative(folder, file)),
    },
  )
  t.strictSame(seen.toSorted(), names)
  t.equal(
    results.reduce((total, { passed }) => total + passed, 0),
    27,
  )
})
