import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withoutCoverage, withoutTap } from './child-process.ts'
import type { FileResult, Skip } from './results.ts'

/**
 * Runs a file once more: in a process of its own, with nothing beside it, by tap.
 * @param say is told what is not ok
 * @returns what it came to if it passes; undefined = it fails again
 */
export function runAgain(file: string, say: (text: string) => void): FileResult | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tap-'))
  try {
    const output = join(folder, 'output.tap')
    const begunAt = performance.now()
    const args = ['--reporter=silent', '--jobs=1', `--output-file=${output}`, file]
    const { status } = spawnSync('tap', args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...withoutTap(process.env), ...withoutCoverage },
    })
    const ms = performance.now() - begunAt
    const written = existsSync(output) ? readFileSync(output, 'utf8') : ''
    if (status === 0) return { file, ms, failures: [], timedOut: false, ...countsIn(written) }
    say(failuresIn(written))
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What is not ok, with what tap says of it. */
function failuresIn(tap: string): string {
  return [...tap.matchAll(/^( *)not ok [^\n]*\n(?:\1 {2}---\n.*?\n\1 {2}\.\.\.\n)?/gms)]
    .map(([text]) => text)
    .join('')
}

/** From lines such as `ok 2 - title # SKIP reason`; those that end a test are not counted, as tap does not. */
function countsIn(tap: string): { readonly passed: number; readonly skips: readonly Skip[] } {
  const [, passed = '0'] = /^# \{.*\bpass: (\d+)/m.exec(tap) ?? []
  const skips = [...tap.matchAll(/^ *ok \d+ - (.*) # SKIP ?(.*)$/gm)].map(
    ([, test = '', reason = '']): Skip => ({ test, reason: reason || 'no reason is given' }),
  )
  return { passed: Number(passed), skips }
}
