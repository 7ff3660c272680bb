import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { killAll } from './runner/child-process.ts'
import { coverageSummary, createCoverageMerger, readSources, takeFolder } from './runner/coverage.ts'
import { help, parseOptions, type RunnerOptions } from './runner/options.ts'
import { runLayer } from './runner/run-layer.ts'
import { selectFiles } from './runner/select.ts'
import { isGood, summaryOf } from './runner/summary.ts'
import { watch } from './runner/watch.ts'

/** What a process writes at its end is complete by then. */
const writingMs = 10_000

/** `npm test` and `npm run test:all`: see `runner/options.ts`. */

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    killAll()
    process.exit(128 + constants.signals[signal])
  })
}
process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  let options: RunnerOptions | undefined
  try {
    options = parseOptions(args)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${help}`)
    return 2
  }
  if (!options) {
    console.log(help)
    return 0
  }
  if (options.watch) return watch(options)
  return await run(options)
}

async function run({ parts, all, jobs, coverage }: RunnerOptions): Promise<number> {
  const { files, left, unknown } = selectFiles(parts, all ? 'all' : 'quick')
  if (unknown.length > 0) console.error(`No test file is called ${unknown.join(' or ')}, or below it.`)
  if (unknown.length > 0) return 2
  if (left.length > 0) {
    const command = ['npm run test:all', ...(parts.length > 0 ? ['--', ...parts] : [])].join(' ')
    console.log(
      `${files.length} quick files; \`${command}\` also runs ${left.length} that are slow or need programs.`,
    )
  }
  if (files.length === 0) return 2
  const measured = coverage ? measureCoverage() : undefined
  const outcome = await runLayer(files, { jobs, install: all, say: console.log, onFile: measured?.take })
  if (measured) console.log(`\n${measured.summary()}`)
  console.log(`\n${summaryOf(outcome)}`)
  return isGood(outcome) ? 0 : 1
}

/** From now on every process writes what of the sources it has run, if its files take no times. */
function measureCoverage() {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-coverage-'))
  process.env.NODE_V8_COVERAGE = folder
  const merger = createCoverageMerger(readSources(process.cwd()), process.cwd())
  return {
    /** While others run: they are some gigabytes in all. */
    take: () => takeFolder(folder, merger, { writtenBefore: Date.now() - writingMs }),
    summary: () => {
      takeFolder(folder, merger)
      rmSync(folder, { recursive: true, force: true })
      return coverageSummary(merger.result())
    },
  }
}
