import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { main } from '#cli/main.ts'
import { until } from '../setup/net.ts'

/** The outcome of a command. */
export interface Outcome {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
  /** Standard output as JSON. */
  json(): unknown
}

/** Chunks are kept separate, as received. */
export type Input = string | readonly (string | Uint8Array)[]

export interface RunOptions {
  /** The environment of the program, in addition to PATH. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Standard input; only for commands that run in this process. */
  readonly input?: Input
  /** Whether standard output is a terminal; only for commands that run in this process. */
  readonly isTerminal?: boolean
  /** The test fails if it takes longer to exit, or to be ready. */
  readonly withinMs?: number
}

export interface Serving {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  /** Its output so far. */
  readonly output: { stdout: string; stderr: string }
  /** Resolves with its outcome once it has exited. */
  readonly ended: Promise<Outcome>
}

export interface Ready {
  readonly url: string
  readonly opsUrl: string
  readonly pid: number
}

/** The path of the program. */
export const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
/** For what hangs: on a busy machine a start alone takes many seconds. */
const timeoutMs = 60_000
// What Node prints for an uncaught error: stack frames, the file, its own version.
const stackTrace = /^\s+at .+:\d+:\d+\)?$|^file:\/\/|^node:internal|^Node\.js v|\(node:\d+\)/m

const home = process.cwd()

/**
 * Runs a command in this process, without starting another. One at a time: the working directory is that of the
 * process. What runs until it is stopped gets its own process.
 */
export async function run(t: Test, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  if (args[0] === 'serve') return runProgram(t, args, options)
  const output = { stdout: '', stderr: '' }
  process.chdir(options.cwd ?? home)
  const status = await main(args, {
    out: { isTTY: options.isTerminal === true, write: (text) => (output.stdout += text) },
    err: { write: (text) => (output.stderr += text) },
    env: options.env ?? {},
    input: Readable.from([options.input ?? ''].flat()),
  })
  process.chdir(home)
  return outcomeOf(status, output)
}

/** Runs the real program until it exits. Operator mistakes never print a stack trace. */
export async function runProgram(
  t: Test,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  const { child, ended } = start(t, args, options)
  const timer = setTimeout(() => child.kill('SIGKILL'), options.withinMs ?? timeoutMs)
  const outcome = await ended
  clearTimeout(timer)
  t.not(child.signalCode, 'SIGKILL', `gatehouse ${args.join(' ')} ends without being killed`)
  return outcome
}

/** Starts the real program; it is killed with the test. */
export function start(t: Test, args: readonly string[], { env = {}, cwd }: RunOptions = {}): Serving {
  // Not the environment of the tests: a config of the machine must not reach it, nor the loaders that the
  // test runner adds to every child, which slow it down and suppress its warnings.
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

/** Starts `serve` and waits until it accepts requests. */
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
  // The cast is sound: the tests of the ready file check its content.
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
