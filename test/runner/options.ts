import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

export interface RunnerOptions {
  /** Files, or starts of paths; none = everything. */
  readonly parts: readonly string[]
  readonly all: boolean
  readonly watch: boolean
  /** Processes at a time. */
  readonly jobs: number
  /** Whether to say how much of `src/` was run. */
  readonly coverage: boolean
}

export const help = `npm test                               the quick tests: nothing is installed
npm test -- identity/ store/               those of folders
npm test -- test/identity/authorize.test.ts    a file, whatever it needs
npm test -- --watch                    after each change, those that import what has changed; also with folders
npm run test:all                       every test: installs what it may, skips what it cannot run

  --coverage says at the end how much of src/ was run, by lines and branches, and what no test enters; for every
             test, it does unless there is --no-coverage
  --jobs=N   processes at a time (default: two more than there are cores; for every test, as many)
  --help

CONTRIBUTING.md says how long each takes, docs/decisions/0046-test-layers.md which tests are quick.`

/** Tests choose their ports by the process they run in (`test/setup/net.ts`), which has ranges for this many. */
const jobsMax = 8

/** @throws Error for what is no option; undefined = help is asked for */
export function parseOptions(args: readonly string[]): RunnerOptions | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    allowNegative: true,
    options: {
      all: { type: 'boolean', default: false },
      watch: { type: 'boolean', default: false },
      jobs: { type: 'string' },
      coverage: { type: 'boolean' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const jobs = Number(values.jobs ?? Math.min(jobsMax, availableParallelism() + (values.all ? 0 : 2)))
  if (!Number.isInteger(jobs) || jobs < 1 || jobs > jobsMax)
    throw new Error(`--jobs is a number from 1 to ${jobsMax}`)
  if (values.all && values.watch) throw new Error('--watch is for the quick tests')
  if (values.coverage && values.watch) throw new Error('--coverage is for a whole run')
  const { all, watch } = values
  // Of a part, the files that none of its tests enters would be most.
  const { coverage = all && positionals.length === 0 } = values
  return { parts: positionals, all, watch, jobs, coverage }
}
