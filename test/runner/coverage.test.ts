import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Coverage, coverageSummary, createCoverageMerger, readSources, takeFolder } from './coverage.ts'

/** Five lines are code: types, comments, brackets and `else` are none. Four branches: two of each decision. */
const guard = `/** Says which. */
import type { Kind } from './kind.ts'

export function nameOf(kind: Kind | undefined): string {
  // A comment.
  const name = kind === undefined ? 'none' : kind.name
  if (name === '') {
    return 'empty'
  } else {
    return name
  }
}
`
const kind = `export interface Kind {
  readonly name: string
}
`
const callback = 'export const callTwice = (call: () => void) => {\n  call()\n  call()\n}\n'
const constant = 'export const limit = 10\n'

/** What V8 counts in processes that run these programs in a folder with these sources. */
function coverageOf(t: Test, sources: Readonly<Record<string, string>>, programs: readonly string[]) {
  const { root, folder } = run(t, sources, programs)
  const merger = createCoverageMerger(readSources(root), root)
  takeFolder(folder, merger)
  t.strictSame(readdirSync(folder), [], 'nothing is left of it')
  return merger.result()
}

/** The same, left in the folder that V8 wrote it to. */
function run(t: Test, sources: Readonly<Record<string, string>>, programs: readonly string[]) {
  const root = t.testdir({ src: { ...sources }, coverage: {} })
  const folder = join(root, 'coverage')
  for (const program of programs)
    execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: root,
      env: { ...process.env, NODE_V8_COVERAGE: folder },
    })
  return { root, folder }
}

t.test('what may still be written is left for later', async (t) => {
  const sources = { 'constant.ts': constant }
  const { root, folder } = run(t, sources, [`import './src/constant.ts'`])
  const merger = createCoverageMerger(readSources(root), root)
  takeFolder(folder, merger, { writtenBefore: Date.now() - 60_000 })
  t.equal(merger.result().processes, 0)
  takeFolder(folder, merger)
  t.match(merger.result(), { processes: 1, unreadable: 0 })
})

function fileOf({ files }: Coverage, name: string) {
  return files.find(({ file }) => file === `src/${name}`)
}

t.test('a line and a branch are covered if any process has run them', async (t) => {
  const first = `import { nameOf } from './src/guard.ts'; nameOf(undefined)`
  const second = `import { nameOf } from './src/guard.ts'; nameOf({ name: '' })`
  const sources = { 'guard.ts': guard }
  t.match(fileOf(coverageOf(t, sources, [first]), 'guard.ts'), {
    lines: { covered: 4, all: 5 },
    branches: { covered: 2, all: 4 },
  })
  t.match(fileOf(coverageOf(t, sources, [first, second]), 'guard.ts'), {
    lines: { covered: 5, all: 5 },
    branches: { covered: 4, all: 4 },
  })
})

t.test('a file is entered once a function of it was called, and listed until then', async (t) => {
  const sources = { 'guard.ts': guard, 'kind.ts': kind, 'callback.ts': callback, 'constant.ts': constant }
  const coverage = coverageOf(t, sources, [`import './src/guard.ts'; import './src/constant.ts'`])
  t.strictSame(
    coverage.files.map(({ file, use }) => [file, use]),
    [
      ['src/callback.ts', 'absent'],
      ['src/constant.ts', 'entered'],
      ['src/guard.ts', 'loaded'],
    ],
    'nothing of a file of types can be run',
  )
  t.strictSame(coverageSummary(coverage).split('\n').slice(1), [
    'No test enters (2):',
    '  src/callback.ts',
    '  src/guard.ts (loaded only)',
  ])
})

t.test('a branch that is a function is covered where it is chosen, not where it is called', async (t) => {
  const chosen = 'export const choose = (is: boolean) => (is ? () => 1 : () => 2)\n'
  const program = `import { choose } from './src/choose.ts'; choose(true)`
  t.match(fileOf(coverageOf(t, { 'choose.ts': chosen }, [program]), 'choose.ts'), {
    branches: { covered: 1, all: 2 },
  })
})

t.test('types of any length and other alphabets do not shift what is counted', async (t) => {
  const source = `export function last(list: readonly ('é' | '漢字' | '😀')[]): string {
  if (list.length === 0) return 'none'
  return list.at(-1) ?? 'never'
}
`
  const program = `import { last } from './src/last.ts'; last([])`
  t.match(fileOf(coverageOf(t, { 'last.ts': source }, [program]), 'last.ts'), {
    lines: { covered: 2, all: 3 },
    branches: { covered: 1, all: 2 },
  })
})

t.test('a file that was cut off counts as such, with what can be read of it', async (t) => {
  const { root, folder } = run(t, { 'guard.ts': guard }, [
    `import { nameOf } from './src/guard.ts'; nameOf(undefined)`,
  ])
  const [name = ''] = readdirSync(folder)
  const whole = readFileSync(join(folder, name), 'utf8')
  const cutOff = whole.slice(0, whole.indexOf('src/guard.ts') + 40)
  for (const text of [cutOff, '', '{"result":', 'no JSON']) {
    const merger = createCoverageMerger(readSources(root), root)
    merger.add(text)
    merger.add(whole)
    const coverage = merger.result()
    t.match(coverage, { processes: 2, unreadable: 1, files: [{ use: 'entered', lines: { covered: 4 } }] })
    t.match(
      coverageSummary(coverage),
      /^Coverage of src\/ by 2 processes, 1 of them cut off: 80\.0 % of 5 lines, 50\.0 % of 4 branches/,
    )
  }
})

t.test('scripts elsewhere, and texts that look like scripts, count for nothing', async (t) => {
  const program = `globalThis['{"scriptId":"1","url":"file:///src/constant.ts"'] = () => 1`
  t.match(coverageOf(t, { 'constant.ts': constant }, [program]), {
    processes: 1,
    unreadable: 0,
    files: [{ use: 'absent' }],
  })
})

t.test('the memory for many processes is that for one', async (t) => {
  const program = `
    import { createCoverageMerger } from './test/runner/coverage.ts'
    const merger = createCoverageMerger(new Map(), '/app')
    for (let index = 0; index < 40; index++)
      merger.add('{"result":[],"timestamp":' + String(index).padEnd(8_000_000) + '}')
    console.log(merger.result().processes)`
  // All of them together would take 320 MB.
  const options = ['--max-old-space-size=100', '--input-type=module', '--eval', program]
  t.equal(execFileSync(process.execPath, options, { encoding: 'utf8' }), '40\n')
})
