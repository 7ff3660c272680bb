import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * Runs only the tests of single modules, for the loop of writing code: `npm run test:unit`, or with a part of a
 * path, `npm run test:unit -- tokens/`. No list: a test is one of these by what it imports.
 */

/** A test that imports one of these, itself or through its helpers, starts programs, listens or tries random input. */
const notForUnits = [
  'node:child_process',
  'node:cluster',
  'node:http',
  'node:https',
  'node:net',
  'node:tls',
  'fast-check',
  'playwright-core',
]

const importsOf = memoized((file) =>
  [...readFileSync(file, 'utf8').matchAll(/(?:\bfrom|\bimport) ?\(?'([^']+)'/g)].map(([, name = '']) =>
    name.startsWith('.') ? join(dirname(file), name) : name,
  ),
)

/** What sources below src/ import does not count: only a test says whether it opens a socket with them. */
function isUnitTest(file: string, seen = new Set<string>()): boolean {
  if (seen.has(file)) return true
  seen.add(file)
  const imports = importsOf(file)
  return (
    !imports.some((name) => notForUnits.includes(name)) &&
    imports.filter((name) => /^test\/.*\.ts$/.test(name)).every((name) => isUnitTest(name, seen))
  )
}

function memoized<Value>(make: (key: string) => Value): (key: string) => Value {
  const made = new Map<string, Value>()
  return (key) => {
    const value = made.get(key) ?? make(key)
    made.set(key, value)
    return value
  }
}

const parts = process.argv.slice(2)
const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => join('test', path))
  .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
  .filter((file) => isUnitTest(file))
  .sort()

if (files.length === 0) {
  console.error(`No unit test has ${parts.join(' or ')} in its path.`)
  process.exitCode = 2
} else {
  process.exitCode = await runAll(files)
}

/** Runs each file in a process of its own, without tap around it: that takes as long again as the tests. */
async function runAll(files: readonly string[]): Promise<number> {
  const begunAt = performance.now()
  const waiting = [...files]
  const failed: string[] = []
  async function work(): Promise<void> {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      if (!(await passes(file))) failed.push(file)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  const seconds = Math.round((performance.now() - begunAt) / 1_000)
  console.log(`${files.length - failed.length} of ${files.length} unit test files passed in ${seconds} s.`)
  if (failed.length === 0) return 0
  console.log(`Again, for a report: ${failed.join(' ')}`)
  spawnSync('tap', ['--reporter=terse', ...failed], { stdio: 'inherit' })
  return 1
}

async function passes(file: string): Promise<boolean> {
  const env = { ...process.env, TAP_TIMEOUT: '180' }
  const [code] = await once(spawn(process.execPath, [file], { stdio: 'ignore', env }), 'close')
  return code === 0
}
