import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installPrograms } from '../setup/install-programs.ts'
import { isThere } from '../setup/programs.ts'
import { declarationsOf, programsOf } from './declarations.ts'
import type { FileResult } from './results.ts'
import { runAgain } from './run-again.ts'
import { runFiles } from './run-files.ts'
import type { Outcome } from './summary.ts'

export interface LayerOptions {
  readonly jobs: number
  /** Whether programs that are not there may be installed. */
  readonly install: boolean
  /** Is told what fails, and how far it is. */
  say(text: string): void
  /** Is called after each file. */
  readonly onFile?: (() => void) | undefined
}

/** If more files fail, it is no accident, and to run them all again would take long. */
const againMax = 10

/** Runs test files, those that fail once more; says how far it is. */
export async function runLayer(files: readonly string[], options: LayerOptions): Promise<Outcome> {
  const { jobs, install, say, onFile } = options
  const begunAt = performance.now()
  if (install) installPrograms([...new Set(files.flatMap(programsOf))].toSorted())
  const skipped = files.flatMap(skippedForPrograms)
  const runnable = files.filter((file) => !skipped.some((result) => result.file === file))
  using _folder = ownTemporaryFolder()
  const progress = createProgress(runnable.length, say)
  const first = await runFiles(runnable, {
    jobs,
    isAlone: (file) => declarationsOf(file).alone,
    isTimed: (file) => declarationsOf(file).timed,
    onResult: (result) => {
      progress(result)
      onFile?.()
    },
  })
  const failed = [...new Set(first.filter(({ failures }) => failures.length > 0).map(({ file }) => file))]
  const passing = againstAccidents(failed, say)
  const secondTry = passing.map(({ file }) => file)
  const results = [...skipped, ...first.filter(({ file }) => !secondTry.includes(file)), ...passing]
  return { results, secondTry, ms: performance.now() - begunAt }
}

/** For what tests create beside their own folders, until the run has ended. */
function ownTemporaryFolder(): Disposable {
  const { TMPDIR: outer } = process.env
  const folder = inMemory('gatehouse-run-') ?? mkdtempSync(join(tmpdir(), 'gatehouse-run-'))
  // Servers that a test starts, such as Apache, may run as another user.
  chmodSync(folder, 0o711)
  process.env.TMPDIR = folder
  return {
    [Symbol.dispose]() {
      if (outer === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = outer
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The least free space in memory: most of what tests create is small, but some build packages. */
const memoryBytesMin = 4 * 1_024 ** 3

/**
 * A folder in memory, where databases do not wait for the disk: half of the time of many tests. What is promised after a
 * kill of the process holds there too. @returns undefined where there is none that is large enough and runs programs
 */
function inMemory(prefix: string): string | undefined {
  const shared = '/dev/shm'
  if (process.env.TMPDIR !== undefined || !existsSync(shared)) return undefined
  const { bavail, bsize } = statfsSync(shared)
  if (bavail * bsize < memoryBytesMin) return undefined
  const folder = mkdtempSync(join(shared, prefix))
  const script = join(folder, 'script')
  writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 })
  const { status } = spawnSync(script)
  rmSync(script)
  if (status === 0) return folder
  rmSync(folder, { recursive: true })
  return undefined
}

/** A file that needs a program which is not there is one skip. */
function skippedForPrograms(file: string): readonly FileResult[] {
  const missing = declarationsOf(file).needs.filter((name) => !isThere(name))
  const skips = missing.slice(0, 1).map((name) => ({ test: file, reason: `needs ${name}` }))
  return skips.length === 0 ? [] : [{ file, passed: 0, failures: [], skips, ms: 0, timedOut: false }]
}

/** @returns the results of those that pass on the second try */
function againstAccidents(failed: readonly string[], say: LayerOptions['say']): readonly FileResult[] {
  if (failed.length > againMax) return []
  return failed.flatMap((file) => {
    say(`\n${file} once more, alone:`)
    return runAgain(file, say) ?? []
  })
}

/** Reports what fails as it fails, and from time to time how far it is. */
function createProgress(total: number, say: LayerOptions['say']): (result: FileResult) => void {
  const everyMs = 15_000
  let done = 0
  let saidAt = performance.now()
  return ({ file, failures }) => {
    done++
    for (const { test, detail } of failures) say(`FAILED ${file}: ${test}\n${detail.replace(/^/gm, '    ')}`)
    if (performance.now() - saidAt < everyMs) return
    saidAt = performance.now()
    say(`${done} of ${total} files`)
  }
}
