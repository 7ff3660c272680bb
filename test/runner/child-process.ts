import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { ChildMessage, FileResult, RunnerMessage } from './results.ts'

/** How long a file may take that does not ask for more (`t.setTimeout`). */
export const fileMs = 180_000

/** For a process to start. */
const startMs = 60_000

/** What a file may take, and what is left to its process to say so itself. */
const withGrace = (ms: number) => ms * 1.1 + 1_000

/** For a process and all that it starts. */
export const withoutCoverage = { NODE_V8_COVERAGE: '' }

/** Beyond what is still closed after the last file (`child-files.ts`). */
const endMs = 40_000

const errorCharsMax = 4_000

export interface TestProcess {
  /** Runs one file. What is wrong with the process is a failure of that file. */
  run(file: string): Promise<FileResult>
  /** Whether it can take another file. */
  readonly usable: boolean
  /** Lets it end. @returns what is wrong with how it ended, or with what its files did after their end */
  end(): Promise<string | undefined>
}

export interface TestProcessOptions {
  /** Processes that run at the same time have different ones; tests choose their ports by it. */
  readonly slot: number
  readonly allowedMs?: number | undefined
  /** Whether its files take times: without coverage then. */
  readonly isTimed?: boolean
}

/** A process that runs files, one at a time; it has to be given one or ended, else it waits. */
export function startTestProcess({ slot, allowedMs = fileMs, isTimed }: TestProcessOptions): TestProcess {
  const child = fork(join(import.meta.dirname, 'child.ts'), [], {
    // Not the loaders of a tap above this process.
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // A group of its own: what it has started ends with it.
    detached: true,
    env: {
      ...withoutTap(process.env),
      NODE_COMPILE_CACHE: join(process.cwd(), 'node_modules/.cache/tests'),
      TAP_JOB_ID: String(slot),
      ...(isTimed && withoutCoverage),
    },
  })
  const errors = tailOf(child)
  const closed = endOf(child)
  let usable = true
  let hasFailed = false
  const faults: string[] = []
  child.on('message', (message: ChildMessage) => {
    if (message.kind === 'result')
      hasFailed ||= message.result.failures.length > 0 || message.result.skips.length > 0
    if (message.kind === 'late') faults.push(`${message.failure.test}\n${message.failure.detail}`)
    if (message.kind === 'open') {
      faults.push(`the process did not end by itself: ${message.resources.join(', ')} still open`)
      killGroup(child)
    }
  })
  running.add(child)
  child.once('exit', () => {
    running.delete(child)
    usable = false
  })

  async function run(file: string): Promise<FileResult> {
    const begunAt = performance.now()
    const { result, hung } = await nextResult(child, { file, allowedMs, closed })
    if (result && !result.timedOut) return result
    usable = false
    killGroup(child)
    if (result) return result
    await closed
    const how = hung ? `no end within ${hung / 1_000} s: the process was killed` : howItEnded(child)
    const failures = [{ test: file, detail: `${how}\n${errors()}`.trim() }]
    return { file, passed: 0, failures, skips: [], ms: performance.now() - begunAt, timedOut: true }
  }

  async function end(): Promise<string | undefined> {
    if (!usable) return undefined
    child.send({ kind: 'end' } satisfies RunnerMessage)
    const timer = setTimeout(() => killGroup(child), endMs)
    await closed
    clearTimeout(timer)
    if (faults.length > 0) return faults.join('\n')
    // tap ends a process in which a test has failed with 1.
    const asExpected = child.exitCode === 0 || (child.exitCode === 1 && hasFailed)
    return asExpected ? undefined : `${howItEnded(child)}\n${errors()}`.trim()
  }

  return {
    run,
    end,
    get usable() {
      return usable
    },
  }
}

const running = new Set<ChildProcess>()

/** Ends every process that runs tests, with all that these have started. */
export function killAll(): void {
  for (const child of running) killGroup(child)
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** When it has ended, and what it wrote is read; what it has started may keep its standard error open. */
async function endOf(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close')
  await once(child, 'exit')
  killGroup(child)
  await closed
}

interface Wait {
  readonly file: string
  readonly allowedMs: number
  readonly closed: Promise<void>
}

/** @returns its result, or neither where the process ended, or `hung`: after how long it was given up */
function nextResult(
  child: ChildProcess,
  { file, allowedMs, closed }: Wait,
): Promise<{ readonly result?: FileResult; readonly hung?: number }> {
  return new Promise((resolve) => {
    const settle = (outcome: { readonly result?: FileResult; readonly hung?: number }) => {
      clearTimeout(timer)
      child.off('message', onMessage)
      resolve(outcome)
    }
    const giveUpAfter = (ms: number) => setTimeout(() => settle({ hung: ms }), withGrace(ms))
    const onMessage = (message: ChildMessage) => {
      if (message.kind === 'result') settle({ result: message.result })
      if (message.kind !== 'allow') return
      clearTimeout(timer)
      timer = giveUpAfter(message.ms)
    }
    // It says anew how long it may take once it has begun.
    let timer = giveUpAfter(startMs + allowedMs)
    child.on('message', onMessage)
    void closed.then(() => settle({}))
    child.send({ kind: 'run', file, allowedMs } satisfies RunnerMessage, () => {})
  })
}

/** What a tap above this process has told it, its loaders among it, is not for those that it starts. */
export function withoutTap(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOfTap = (name: string) =>
    name.startsWith('TAP_') || (name === 'NODE_OPTIONS' && 'TAP_CHILD_ID' in env)
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOfTap(name)))
}

function howItEnded({ exitCode, signalCode }: ChildProcess): string {
  return signalCode === null
    ? `the process ended with status ${exitCode}`
    : `the process was ended by ${signalCode}`
}

/** The last of what it writes to standard error; the rest of it says nothing to anybody. */
function tailOf(child: ChildProcess): () => string {
  let tail = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-errorCharsMax)
  })
  return () => tail.trim()
}
