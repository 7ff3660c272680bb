import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { Scope } from './scope.ts'

/** The subject has one core, load generator and upstream another, if there are two. */
export const cores = { subject: 0, load: Math.min(1, availableParallelism() - 1) } as const

/** Whether the system can keep a process to a core; where it cannot, the scheduler does as it likes. */
const canPin = spawnSync('taskset', ['--version']).status === 0

/** None may outlive the bench, however that ends. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

/** The words that run a command on one core. */
export function onCore(core: number, command: readonly string[]): readonly string[] {
  return canPin ? ['taskset', '-c', String(core), ...command] : command
}

/** Runs a program on one core until the scope ends. */
export function startProgram(
  scope: Scope,
  {
    core,
    command,
    cwd,
    stdoutFile,
  }: {
    readonly core: number
    readonly command: readonly string[]
    readonly cwd?: string
    /** absent = what it prints is dropped. */
    readonly stdoutFile?: string
  },
): ChildProcess & { readonly pid: number } {
  const [file = '', ...args] = onCore(core, command)
  const stdout = stdoutFile === undefined ? 'ignore' : openSync(stdoutFile, 'a')
  const child = spawn(file, args, { stdio: ['ignore', stdout, 'inherit'], ...(cwd && { cwd }) })
  if (stdout !== 'ignore') closeSync(stdout)
  scope.teardown(() => end(child))
  return withPid(child, command)
}

/** Runs a module of the bench on one core. @returns it, and the first message it sends */
export async function startModule<Ready>(
  scope: Scope,
  {
    core,
    file,
    args = [],
  }: { readonly core: number; readonly file: string; readonly args?: readonly string[] },
): Promise<{ readonly child: ChildProcess & { readonly pid: number }; readonly ready: Ready }> {
  const child = fork(new URL(file, import.meta.url), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  scope.teardown(() => end(child))
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', String(core), String(child.pid)])
  return { child: withPid(child, [file]), ready: await ask<Ready>(child) }
}

/** Sends a question, if there is one, and waits for the next message. @throws Error when it ends instead */
export function ask<Answer>(child: ChildProcess, question?: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    function take(answer: unknown): void {
      child.off('exit', fail)
      // The cast is sound: asker and answerer share the types of their module.
      resolve(answer as Answer)
    }
    function fail(status: number | null): void {
      child.off('message', take)
      reject(new Error(`a process of the bench has ended: ${status}`))
    }
    child.once('message', take).once('exit', fail)
    if (question) child.send(question)
  })
}

function withPid<Child extends ChildProcess>(child: Child, command: readonly string[]) {
  running.add(child)
  child.once('exit', () => running.delete(child))
  if (child.pid === undefined) throw new Error(`cannot be started: ${command.join(' ')}`)
  return child as Child & { readonly pid: number }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
