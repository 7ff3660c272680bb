import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withoutTap } from './child-process.ts'
import type { FileResult, Skip } from './results.ts'

/**
 * Runs a file once more: in a process of its own, with nothing beside it, by tap, which shows what differs.
 * @returns what it came to if it passes; undefined = it fails again
 */
export function runAgain(file: string): FileResult | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tap-'))
  try {
    const output = join(folder, 'output.tap')
    const begunAt = performance.now()
    const args = ['--reporter=terse', '--jobs=1', `--output-file=${output}`, file]
    const { status } = spawnSync('tap', args, { stdio: 'inherit', env: withoutTap(process.env) })
    const ms = performance.now() - begunAt
    return status === 0
      ? { file, ms, failures: [], timedOut: false, ...countsIn(readFileSync(output, 'utf8')) }
      : undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** From lines such as `ok 2 - title # SKIP reason`; those that end a test are not counted, as tap does not. */
function countsIn(tap: string): { readonly passed: number; readonly skips: readonly Skip[] } {
  const [, passed = '0'] = /^# \{.*\bpass: (\d+)/m.exec(tap) ?? []
  const skips = [...tap.matchAll(/^ *ok \d+ - (.*) # SKIP ?(.*)$/gm)].map(
    ([, test = '', reason = '']): Skip => ({ test, reason: reason || 'no reason is given' }),
  )
  return { passed: Number(passed), skips }
}
