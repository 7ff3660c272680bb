import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import type { StoreOptions } from '#store/open.ts'
import type { Facts, Report } from './facts.ts'

export interface WriterResult {
  /** All that the store has answered. */
  readonly answered: Facts
  /** What was asked and not answered: it may have been done or not, but only whole. */
  readonly asked: Facts
  readonly writes: number
}

/** Exit status of a writer whose store does not answer any more. */
export const storeGone = 3

/** Time for some writes more, none of which is to be left out. */
const momentMsMax = 5

export interface WriterEnd {
  /** How many writes it makes before. */
  readonly writesMin: number
  /** Kills the writer, or what it writes to. */
  kill(writer: ChildProcess): void
}

/** Lets a process write to a store until it is brought to an end, and hears what it said. */
export async function writeUntilKilled(
  t: Test,
  options: StoreOptions,
  { writesMin, kill }: WriterEnd,
): Promise<WriterResult> {
  const main = fileURLToPath(new URL('./writer-main.ts', import.meta.url))
  const child = spawn(process.execPath, [main, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => void child.kill('SIGKILL'))
  let said = ''
  let lines = 0
  let isKilled = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
    lines += text.split('\n').length - 1
    if (isKilled || lines < 2 * writesMin) return
    isKilled = true
    // Two lines a write; then a moment that has nothing to do with what it reported.
    const moment = performance.now() + Math.random() * momentMsMax
    while (performance.now() < moment);
    kill(child)
  })
  const [status, signal] = await once(child, 'close')
  if (signal !== 'SIGKILL' && status !== storeGone) throw new Error(`the writer ended with status ${status}`)
  return hear(said)
}

function hear(said: string): WriterResult {
  // What comes after the last line break was cut short.
  const reports = said
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Report)
  const answered = reports.filter(({ phase }) => phase === 'answered')
  const last = reports.at(-1)
  return {
    answered: Object.assign({}, ...answered.map(({ facts }) => facts)),
    asked: last?.phase === 'asks' ? last.facts : {},
    writes: answered.length,
  }
}
