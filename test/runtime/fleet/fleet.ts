import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import { type Ready, type RunOptions, type Serving, serve } from '../../cli/run.ts'
import { createWorkspace, type Workspace } from '../../cli/workspace.ts'
import { until } from '../../setup/net.ts'

/** A gateway with several workers: the real program with its own config. */
export interface Fleet extends Serving, Ready, Workspace {
  readonly configFile: string
  readonly readyFile: string
  /** Process IDs of the workers that were started so far, in their order. */
  pids(): readonly number[]
  /** The messages of the log so far. */
  lines(): readonly LogLine[]
  /** Workers that have served requests so far. */
  answering(): ReadonlySet<number>
}

export interface LogLine {
  readonly level: string
  readonly msg: string
  readonly worker?: number
  readonly pid?: number
  readonly [name: string]: unknown
}

type Options = Readonly<Record<string, unknown>>

export interface FleetOptions {
  /** The backend of every path; public unless `config` overrides it. */
  readonly backend?: string
  readonly workers?: number
  /** Overrides of the rest of the config. */
  readonly config?: Options
  /** Files next to the config. */
  readonly files?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  readonly run?: RunOptions
  /** Runs commands before the gateway starts. */
  readonly before?: (workspace: Workspace) => Promise<void>
}

/** Starts it and waits until it accepts requests. */
export async function serveFleet(t: Test, options: FleetOptions = {}): Promise<Fleet> {
  const { backend = 'http://127.0.0.1:1', workers = 2, config = {}, files = {}, args = [] } = options
  const { listen, ...others } = config
  const where = createWorkspace(
    t,
    {
      listen: { port: 0, workers, ...(listen as Options | undefined) },
      upstreams: { backend: { targets: [{ url: backend }] } },
      routes: [{ name: 'all', path: '/', upstream: 'backend', auth: 'none' }],
      shutdown: { drain: '5s' },
      ...others,
    },
    files,
  )
  await options.before?.(where)
  const serving = await serve(t, ['--config', where.config, ...args], { withinMs: 30_000, ...options.run })
  const lines = () => linesOf(serving.output.stdout)
  const pids = () => lines().flatMap(({ msg, pid }) => (msg === 'worker ready' ? (pid ?? []) : []))
  // The log is written slightly later than the ready file.
  await until(
    'the log says who they are',
    () => pids().length === childrenOf(serving.pid).length || undefined,
  )
  return {
    ...where,
    ...serving,
    configFile: where.config,
    lines,
    pids,
    answering: () => new Set(lines().flatMap(({ msg, worker }) => (msg === 'request' ? (worker ?? []) : []))),
  }
}

/** Sends requests, each on a new connection, until each worker has served one. */
export async function untilAllAnswer(fleet: Fleet, workers = 2): Promise<void> {
  await until('all have answered', async () => {
    await atOnce(() => get(`${fleet.url}/all`))
    return fleet.answering().size === workers || undefined
  })
}

/** Runs something twenty times concurrently: the kernel may give single connections to the same worker each time. */
export function atOnce<Result>(work: () => Promise<Result>): Promise<readonly Result[]> {
  return Promise.all(Array.from({ length: 20 }, work))
}

/** Status of a request on a new connection, which is then closed. */
export async function get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const response = await fetch(url, { headers: { Connection: 'close', ...headers } })
  await response.arrayBuffer()
  return response.status
}

/** Only complete lines: the last may still be incomplete. */
function linesOf(text: string): readonly LogLine[] {
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []))
}

/** Whether there is a process with this ID. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Child processes of a process (Linux). */
export function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').flatMap((child) => (child.trim() === '' ? [] : [Number(child)]))
}
