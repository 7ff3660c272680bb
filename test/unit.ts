import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * Runs the tests of modules by themselves, for the loop of writing code: `npm run test:unit`, or with a part of a
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
  const jobs = Math.max(2, availableParallelism())
  const { status } = spawnSync('tap', [`--jobs=${jobs}`, '--reporter=terse', ...files], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}
