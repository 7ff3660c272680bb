import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import t from 'tap'

// Only the function, with its types stripped here: that needs WebAssembly, which --jitless does not have.
const file = stripTypeScriptTypes(readFileSync('src/runtime/v8.ts', 'utf8'))
const source = /^export function startOptimizing[\s\S]*?^}$/m.exec(file)?.[0]

/** In a process of its own: the flags are those of a whole process. Says whether V8 optimized a function. */
const script = `
import { setFlagsFromString } from 'node:v8'

${source}

let sum = 0
function isOptimized() {
  const add = new Function('sum', 'step', 'for (let i = 0; i < 100; i++) sum += step * i; return sum')
  for (let round = 0; round < 20_000; round++) sum = add(sum, round)
  // V8's OptimizationStatus::kOptimized.
  return (%GetOptimizationStatus(add) & 0b1000) !== 0
}

// As main.ts does.
for (const flag of ['--no-opt', '--no-maglev']) setFlagsFromString(flag)
const before = isOptimized()
startOptimizing()
console.log(JSON.stringify({ before, after: isOptimized() }))
`

function run(...flags: string[]): unknown {
  const args = [...flags, '--allow-natives-syntax', '--input-type=module', '--eval', script]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

t.test('V8 optimizes nothing while it is deferred, and as usual after that', async (t) => {
  t.strictSame(run('--no-concurrent-recompilation'), { before: false, after: true })
})

t.test('under --jitless it stays as it is', async (t) => {
  t.strictSame(run('--jitless'), { before: false, after: false })
})
