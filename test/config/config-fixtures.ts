import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import type { Config } from '#config/config.ts'
import { type ConfigReadResult, loadConfig, readConfig } from '#config/load.ts'
import { formatProblem } from '#config/problem.ts'

/** Options as written in the file. */
export type Options = Readonly<Record<string, unknown>>

/** Files by their path below the folder of the test. */
export type Files = Readonly<Record<string, string | Uint8Array>>

/** Other input of a config, besides its own file. */
export interface ReadOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly settings?: readonly string[]
  /** Files next to the config, which is `config/gateway.yaml`. */
  readonly files?: Files
}

const backend = { targets: [{ url: 'http://127.0.0.1:3000' }] }

/** The minimal config: options without a default. */
export const minimalConfig = {
  upstreams: { backend },
  routes: [{ name: 'all', path: '/', upstream: 'backend', auth: 'any' }],
}

/** The minimal config with other options in its one route. */
export function withRoute(options: Options): Options {
  return { ...minimalConfig, routes: [{ ...minimalConfig.routes[0], ...options }] }
}

/** The minimal config with other options in its one upstream. */
export function withUpstream(options: Options): Options {
  return { ...minimalConfig, upstreams: { backend: { ...backend, ...options } } }
}

/** Writes files into a folder that is removed after the test. @returns the folder */
export function writeFiles(t: Test, files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-config-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

/** Reads a config from a real file, given as its text or as its options. */
export function read(
  t: Test,
  config: string | Uint8Array | Options,
  { env = {}, settings = [], files = {} }: ReadOptions = {},
): ConfigReadResult {
  const isText = typeof config === 'string' || config instanceof Uint8Array
  // JSON is YAML.
  const content = isText ? config : JSON.stringify(config)
  const folder = writeFiles(t, { 'config/gateway.yaml': content, ...files })
  return readConfig({ file: join(folder, 'config/gateway.yaml'), env, settings })
}

/** Every problem as `check` prints it, without the path of the file. */
export function problems(
  t: Test,
  config: string | Uint8Array | Options,
  around?: ReadOptions,
): readonly string[] {
  const reading = read(t, config, around)
  const folder = dirname(dirname(reading.file))
  return reading.problems.map((problem) =>
    formatProblem(problem).replaceAll(`${reading.file}:`, '').replaceAll(`${folder}/`, ''),
  )
}

/** Every problem without its position: `listen.port: must be …`. */
export function problemMessages(t: Test, config: Options, around?: ReadOptions): readonly string[] {
  return problems(t, config, around).map((problem) => problem.slice(problem.indexOf('  ') + 2))
}

/** The config as the program uses it. */
export function load(
  t: Test,
  config: Options,
  { env = {}, settings = [], files = {} }: ReadOptions = {},
): Config {
  const folder = writeFiles(t, { 'config/gateway.yaml': JSON.stringify(config), ...files })
  return loadConfig({ file: join(folder, 'config/gateway.yaml'), env, settings }).config
}
