import { howToGet, programs } from '../setup/programs.ts'
import type { FileResult } from './results.ts'

export interface Outcome {
  readonly results: readonly FileResult[]
  /** Files that failed beside others and passed alone. */
  readonly secondTry: readonly string[]
  readonly ms: number
}

/** More than so many files that pass on their second try only fail the run: it says too little then. */
export const secondTryMax = 2

const slowestMax = 5
const reasonsMax = 15

export function isGood({ results, secondTry }: Outcome): boolean {
  return secondTry.length <= secondTryMax && results.every(({ failures }) => failures.length === 0)
}

/** The last lines of a run; the very last one is for programs to read. */
export function summaryOf(outcome: Outcome): string {
  const { results, secondTry, ms } = outcome
  const passed = sum(results, (result) => result.passed)
  const failed = sum(results, (result) => result.failures.length)
  const skipped = sum(results, (result) => result.skips.length)
  const failedFiles = [
    ...new Set(results.filter(({ failures }) => failures.length > 0).map(({ file }) => file)),
  ]
  return [
    ...skippedLines(results),
    ...section(`Failed (${failedFiles.length}):`, failedFiles),
    ...section(
      `Failed beside others and passed alone (${secondTry.length}, of ${secondTryMax} allowed):`,
      secondTry,
    ),
    ...section('The slowest files:', slowestOf(results)),
    `${new Set(results.map(({ file }) => file)).size} files in ${Math.round(ms / 1_000)} s`,
    `${passed} passed, ${failed} failed, ${skipped} skipped`,
  ].join('\n')
}

function slowestOf(results: readonly FileResult[]): readonly string[] {
  return results
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, slowestMax)
    .map(({ file, ms }) => `${(ms / 1_000).toFixed(1).padStart(5)} s  ${file}`)
}

/** The reasons, the most frequent first, and how to get the programs that they name. */
function skippedLines(results: readonly FileResult[]): readonly string[] {
  const skips = results.flatMap(({ skips }) => skips)
  const byReason = Object.entries(Object.groupBy(skips, ({ reason }) => reason))
    .map(([reason, of = []]) => ({ reason, count: of.length }))
    .toSorted((a, b) => b.count - a.count)
  const lines = byReason
    .slice(0, reasonsMax)
    .map(({ reason, count }) => `${count} × ${reason}${adviceOn(reason)}`)
  const more = byReason.length - lines.length
  return section(`Skipped (${skips.length}):`, more > 0 ? [...lines, `and for ${more} more reasons`] : lines)
}

function adviceOn(reason: string): string {
  const [, name = ''] = /^needs (.+)$/.exec(reason) ?? []
  return programs[name] ? ` (${howToGet(name)})` : ''
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)]
}

function sum(results: readonly FileResult[], of: (result: FileResult) => number): number {
  return results.reduce((total, result) => total + of(result), 0)
}
