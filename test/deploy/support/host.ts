import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { until } from '../../setup/net.ts'

/** A host of its own for the programs of a test: its ports are free, and nobody else's. */
export interface Host {
  /** Starts a program on it; it is killed with the test. */
  start(command: readonly string[], options?: SpawnOptions): Started
  /** Runs a program on it. @returns its output, both streams. @throws Error unless it exits with 0 */
  run(command: readonly string[]): Promise<string>
}

export interface Started {
  readonly child: ChildProcess
  readonly pid: number
  /** What it has written so far, to both streams. */
  output(): string
  /** Resolves with its exit status once it has ended; null: by a signal. */
  readonly ended: Promise<number | null>
}

/** Network and mount namespaces need root, on Linux. */
export function canMakeHosts(): boolean {
  return spawnSync('unshare', ['--net', '--mount', 'ip', 'link', 'set', 'lo', 'up']).status === 0
}

export async function startHost(t: Test): Promise<Host> {
  const holder = follow(t, [
    'unshare',
    '--net',
    'sh',
    '-c',
    'ip link set lo up && echo up && exec sleep infinity',
  ])
  await until('the host is up', () => holder.output().includes('up') || undefined)

  function start(command: readonly string[], options: SpawnOptions = {}): Started {
    return follow(t, ['nsenter', `--net=/proc/${holder.pid}/ns/net`, ...command], options)
  }

  async function run(command: readonly string[]): Promise<string> {
    const started = start(command)
    const status = await started.ended
    if (status !== 0) throw new Error(`${command.join(' ')}: ${status}: ${started.output()}`)
    return started.output()
  }

  return { start, run }
}

function follow(t: Test, command: readonly string[], options: SpawnOptions = {}): Started {
  // Not NODE_OPTIONS: the loaders of the test runner are not to reach what is tested.
  const args = ['-u', 'NODE_OPTIONS', ...command]
  const child = spawn('env', args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that none of its children outlives the test.
    detached: true,
    ...options,
  })
  const pid = child.pid ?? 0
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = once(child, 'close').then(() => child.exitCode)
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-pid, 'SIGKILL')
    await ended
  })
  return { child, pid, output: () => output, ended }
}
