import type { Test } from 'tap'

interface RunningFile {
  /** What it gets as tap's `t`. */
  readonly test: Test
  /** Its place among the files of this process. */
  readonly number: number
}

let running: RunningFile | undefined

/** The file whose tests are running in this process. */
export function runningFile(): RunningFile {
  if (!running) throw new Error('no file is running')
  return running
}

export function setRunningFile(file: RunningFile): void {
  running = file
}
