import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import type { StoreDriver } from '../setup/gateway.ts'
import { startRedis } from '../setup/redis.ts'
import { type Input, type Outcome, run, runProgram, tempFolder } from './run.ts'

/** The config of a workspace, which may be overridden. */
export function configOf(options: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    listen: { port: 0 },
    ops: { port: 0 },
    upstreams: { backend: { targets: [{ url: 'http://127.0.0.1:1' }] } },
    routes: [{ name: 'all', path: '/', upstream: 'backend', auth: 'any' }],
    keys: { sealingKey: { file: 'data/sealing.key' } },
    store: { sqlite: { path: 'data/gatehouse.db' } },
    shutdown: { drain: '50ms' },
    ...options,
  })
}

export interface Workspace {
  readonly folder: string
  readonly config: string
  /** Runs a command with the config of this workspace, in this process. */
  run(...args: readonly string[]): Promise<Outcome>
  /** The same, with standard input. */
  runWith(input: Input, ...args: readonly string[]): Promise<Outcome>
  /** The same in a separate process. */
  runProgram(...args: readonly string[]): Promise<Outcome>
}

/** A folder with a config and other files, in which commands can be run; removed after the test. */
export function createWorkspace(
  t: Test,
  options: Readonly<Record<string, unknown>> = {},
  files: Readonly<Record<string, string | Uint8Array>> = {},
): Workspace {
  const folder = tempFolder(t)
  const config = join(folder, 'gateway.yaml')
  for (const [name, content] of Object.entries({ 'gateway.yaml': configOf(options), ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  const inFolder = { cwd: folder }
  return {
    folder,
    config,
    run: (...args) => run(t, [...args, '--config', config], inFolder),
    runWith: (input, ...args) => run(t, [...args, '--config', config], { ...inFolder, input }),
    runProgram: (...args) => runProgram(t, [...args, '--config', config], inFolder),
  }
}

/** A workspace whose accounts are in a store of this test alone. */
export async function createWorkspaceOn(t: Test, driver: StoreDriver): Promise<Workspace> {
  if (driver === 'sqlite') return createWorkspace(t)
  const { url } = await startRedis(t)
  return createWorkspace(t, { store: { driver, redis: { url } } }, { 'data/sealing.key': sealingKey })
}

/** For Redis, for which no sealing key is created. */
export const sealingKey = Buffer.alloc(32, 7).toString('base64')
