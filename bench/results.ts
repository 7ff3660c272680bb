import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import type { FigureKind, Figures } from './scenarios/scenario.ts'

/** The result of one scenario, run by run: the source of the page. */
export interface Result {
  readonly scenario: string
  readonly summary: string
  readonly note: string
  readonly figures: Readonly<Record<string, FigureKind>>
  readonly compared: string
  readonly yardsticks: readonly string[]
  /** When it was measured, in UTC. */
  readonly at: string
  readonly machine: Machine
  readonly load: string
  readonly connections: number
  readonly seconds: number
  /** Peers that were not available. */
  readonly missing: readonly string[]
  /** By name, in the order of their turns; of each as many figures as there were runs. */
  readonly contestants: Readonly<Record<string, readonly Figures[]>>
}

export interface Machine {
  readonly processor: string
  readonly cores: number
  /** Load average of the last minute before: other work on the machine. */
  readonly loadAverage: number
  /** By program; unavailable ones are left out. */
  readonly versions: Readonly<Record<string, string>>
}

const folder = new URL('results/', import.meta.url)

/** Writes a result as `bench/results/NAME.json`. */
export function writeResult(result: Result): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL(`${result.scenario}.json`, folder), `${JSON.stringify(result, null, 2)}\n`)
}

/** Every result there is, by name. */
export function readResults(): ReadonlyMap<string, Result> {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  // The casts are sound: writeResult alone writes there.
  const results = names.map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Result)
  return new Map(results.map((result) => [result.scenario, result]))
}

export function readMachine(): Machine {
  const [cpu] = cpus()
  return {
    processor: cpu?.model.trim() ?? '',
    cores: cpus().length,
    loadAverage: loadavg()[0] ?? 0,
    versions: {
      node: process.versions.node,
      ...versionOf('haproxy', /version (\d[\d.]*)/),
      ...versionOf('nginx', /nginx\/(\S+)/),
      ...versionOf('wrk', /wrk \S*?(\d\S*)/),
      ...versionOf('h2load', /nghttp2\/(\S+)/, '--version'),
    },
  }
}

function versionOf(program: string, pattern: RegExp, option = '-v'): Readonly<Record<string, string>> {
  const { stdout, stderr, error } = spawnSync(program, [option], { encoding: 'utf8' })
  const [, version] = error ? [] : (pattern.exec(stdout + stderr) ?? [])
  return version === undefined ? {} : { [program]: version }
}
