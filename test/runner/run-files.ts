import { dirname } from 'node:path'
import { startTestProcess, type TestProcess } from './child-process.ts'
import type { FileResult } from './results.ts'

export interface RunOptions {
  /** How many processes at a time. */
  readonly jobs: number
  /** How long a file may take; default: `fileMs`. */
  readonly allowedMs?: number
  /** Whether a file has to have a process of its own, with nothing beside it. */
  isAlone(file: string): boolean
  /** Whether it takes times, so that coverage is not measured in its process; default: none does. */
  isTimed?(file: string): boolean
  /** Told of each file as it is done. */
  onResult(result: FileResult): void
}

/** Larger rooms are split into groups of this many files, so that no process grows without limit. */
const groupMax = 40

/**
 * Runs the files of a room in one process, several rooms at a time, the largest first. Once every group has a
 * process, those that are free take half of what is left of the largest. Files that have to be alone come last.
 */
export async function runFiles(
  files: readonly string[],
  options: RunOptions,
): Promise<readonly FileResult[]> {
  const results: FileResult[] = []
  const record = (result: FileResult) => {
    results.push(result)
    options.onResult(result)
  }
  const groups = groupsOf(
    files.filter((file) => !options.isAlone(file)),
    options.isTimed,
  )
  const begun: string[][] = []

  async function work(slot: number): Promise<void> {
    for (let group = takeGroup(groups, begun); group; group = takeGroup(groups, begun)) {
      begun.push(group)
      await runGroup(group, slot, { ...options, onResult: record })
    }
  }

  await Promise.all(Array.from({ length: options.jobs }, (_, slot) => work(slot)))
  for (const file of files.filter(options.isAlone))
    await runGroup([file], 0, { ...options, onResult: record })
  return results
}

/** One process after the other, if files end it, until the group is empty. */
async function runGroup(group: string[], slot: number, options: RunOptions): Promise<void> {
  let testProcess: TestProcess | undefined
  let last = ''
  for (let file = group.shift(); file !== undefined; file = group.shift()) {
    if (!testProcess?.usable)
      testProcess = startTestProcess({
        slot,
        allowedMs: options.allowedMs,
        isTimed: options.isTimed?.(file) === true,
      })
    options.onResult(await testProcess.run(file))
    last = file
  }
  const fault = await testProcess?.end()
  if (fault === undefined) return
  const test = 'after the last file of its process'
  options.onResult({
    file: last,
    passed: 0,
    failures: [{ test, detail: fault }],
    skips: [],
    ms: 0,
    timedOut: false,
  })
}

function groupsOf(files: readonly string[], isTimed: RunOptions['isTimed'] = () => false): string[][] {
  const byRoom = Object.values(Object.groupBy(files, (file) => `${roomOf(file)} ${isTimed(file)}`))
  const groups = byRoom.flatMap((inRoom = []) =>
    Array.from({ length: Math.ceil(inRoom.length / groupMax) }, (_, index) =>
      inRoom.slice(index * groupMax, (index + 1) * groupMax),
    ),
  )
  return groups.sort((a, b) => b.length - a.length)
}

/** Such as `test/identity`, with all its folders: they load much the same sources. */
function roomOf(file: string): string {
  return dirname(file).split('/', 2).join('/')
}

/** The largest group that nobody has begun; else the later half of the one with most files left. */
function takeGroup(groups: string[][], begun: readonly string[][]): string[] | undefined {
  const next = groups.shift()
  if (next) return next
  const largest = begun.toSorted((a, b) => b.length - a.length)[0] ?? []
  const half = largest.splice(Math.floor(largest.length / 2))
  return half.length > 0 ? half : undefined
}
