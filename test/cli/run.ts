import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { main } from '../../src/cli/main.ts'
import { until } from '../setup/net.ts'

/** What came of a command. */
export interface Outcome {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
  /** Standard output as JSON. */
  json(): unknown
}

/** Chunks as they come are kept apart. */
export type Input = string | readonly (string | Uint8Array)[]

export interface RunOptions {
  /** Beside PATH, all that the program finds in its environment. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** What comes on standard input; only of commands that run in this process. */
  readonly input?: Input
  /** It is a fault if it takes longer to end, or to be ready. */
  readonly withinMs?: number
}

export interface Serving {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  /** What it has written so far. */
  readonly output: { stdout: string; stderr: string }
  /** Resolves with what came of it once it has ended. */
  readonly ended: Promise<Outcome>
}

export interface Ready {
  readonly url: string
  readonly opsUrl: string
  readonly pid: number
}

/** The program, as its file. */
export const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const patienceMs = 12_000
// What Node prints of an error that nobody caught: frames, the file it was thrown in, its own version.
const stackTrace = /^\s+at .+:\d+:\d+\)?$|^file:\/\/|^node:internal|^Node\.js v|\(node:\d+\)/m

const home = process.cwd()

/**
 * Runs a command to its end in this process, which spares the start of another. One at a time: the working
 * directory is that of the process. What runs until it is stopped gets a process of its own.
 */
export async function run(t: Test, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  if (args[0] === 'serve') return runProgram(t, args, options)
  const output = { stdout: '', stderr: '' }
  process.chdir(options.cwd ?? home)
  const status = await main(args, {
    out: { write: (text) => (output.stdout += text) },
    err: { write: (text) => (output.stderr += text) },
    env: options.env ?? {},
    input: Readable.from([options.input ?? ''].flat()),
  })
  process.chdir(home)
  return outcomeOf(status, output)
}

/** Runs the real program to its end. Whatever an operator does wrong, no stack trace is shown. */
export async function runProgram(
  t: Test,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  const { child, ended } = start(t, args, options)
  const timer = setTimeout(() => child.kill('SIGKILL'), options.withinMs ?? patienceMs)
  const outcome = await ended
  clearTimeout(timer)
  t.not(child.signalCode, 'SIGKILL', `gatehouse ${args.join(' ')} ends by itself`)
  return outcome
}

/** Starts the real program; it is ended with the test. */
export function start(t: Test, args: readonly string[], { env = {}, cwd }: RunOptions = {}): Serving {
  // Not the environment of the tests: a config of the machine must not reach it, nor the loaders that the
  // test runner adds to every child, which slow it down and hush its warnings.
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, program, ...args], {
    env: { PATH: process.env.PATH, ...env },
    ...(cwd !== undefined && { cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  let isTornDown = false
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    isTornDown = true
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const ended = once(child, 'close').then(() => {
    if (!isTornDown) t.notMatch(output.stderr, stackTrace, `gatehouse ${args.join(' ')} shows no stack trace`)
    return outcomeOf(child.exitCode, output)
  })
  return { child, output, ended }
}

function outcomeOf(status: number | null, output: Serving['output']): Outcome {
  return { status, ...output, json: () => JSON.parse(output.stdout) as unknown }
}

/** Starts `serve` and waits until it takes requests. */
export async function serve(
  t: Test,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Serving & Ready & { readonly readyFile: string }> {
  const readyFile = join(tempFolder(t), 'ready.json')
  const serving = start(t, ['serve', '--ready-file', readyFile, ...args], options)
  const text = await until(
    'the gateway is ready',
    () => {
      if (serving.child.exitCode !== null) throw new Error(`it has ended: ${serving.output.stderr}`)
      return textOf(readyFile)
    },
    options.withinMs,
  )
  // The cast is sound: the tests of the ready file look at what is in it.
  return { ...serving, ...(JSON.parse(text) as Ready), readyFile }
}

export function tempFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-cli-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The text of a file; undefined where there is none. */
export function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
