import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import type { Test } from 'tap'

interface ProgramOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/** Without the environment of the tests: settings of the machine must not reach what is tried. */
function environmentOf({ cwd, env = {} }: ProgramOptions): Readonly<Record<string, string>> {
  return { PATH: process.env.PATH ?? '', HOME: cwd, ...env }
}

/** Runs a program to its end. @returns its standard output @throws Error unless it exits with 0 */
export async function runProgram(command: readonly string[], options: ProgramOptions): Promise<string> {
  const { stdout } = await promisify(execFile)('env', ['-u', 'NODE_OPTIONS', ...command], {
    cwd: options.cwd,
    env: environmentOf(options),
    timeout: 60_000,
  })
  return stdout
}

/** Starts a program that runs until the test has ended. */
export function startProgram(t: Test, command: readonly string[], options: ProgramOptions): ChildProcess {
  const [program = '', ...args] = command
  const child = spawn(program, args, { cwd: options.cwd, env: environmentOf(options), stdio: 'ignore' })
  t.teardown(async () => {
    if (child.exitCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  return child
}
