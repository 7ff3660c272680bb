import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isOnPath } from '../setup/missing-program.ts'
import { freePort, until } from '../setup/net.ts'
import type { Scope } from '../setup/redis.ts'
import type { Subject } from './case-context.ts'
import { connectWire } from './wire.ts'

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** How long a silence in a body may be: short, for there is a case that waits longer. */
export const idleTimeoutMs = 1_000

/** Leaves a process without the internals of Node that sockets are written to by (http/socket-writes.ts). */
export const withoutInternals = ['--import', 'data:text/javascript,process.binding = undefined']

/** The gateway itself, as a process, with a public route for everything. @param flags for Node */
export async function startGatehouse(
  scope: Scope,
  upstreamUrl: string,
  flags: readonly string[] = [],
): Promise<Subject> {
  const dir = tempFolder(scope)
  const file = join(dir, 'gateway.yaml')
  const readyFile = join(dir, 'ready')
  const upstream = { targets: [{ url: upstreamUrl }] }
  const route = { auth: 'none', maxBody: 'unlimited' }
  const config = {
    listen: { port: 0 },
    ops: { port: 0 },
    upstreams: {
      backend: { ...upstream, timeouts: { response: '5s' } },
      impatient: { ...upstream, timeouts: { idle: `${idleTimeoutMs}ms` } },
    },
    routes: [
      { ...route, name: 'all', path: '/', upstream: 'backend' },
      { ...route, name: 'impatient', path: '/impatient', upstream: 'impatient' },
      { ...route, name: 'trailers', path: '/trailers', upstream: 'backend', trailers: 'pass' },
      { ...route, name: 'webSocket', path: '/ws', upstream: 'backend', websocket: true },
    ],
    keys: { sealingKey: { file: 'sealing.key' } },
    store: { sqlite: { path: 'gatehouse.db' } },
    log: { level: 'error', access: false },
    shutdown: { drain: '0s' },
  }
  writeFileSync(file, JSON.stringify(config))
  const args = [...flags, program, 'serve', '--config', file, '--ready-file', readyFile]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  scope.teardown(() => end(child))
  await until('the gateway is ready', () => existsSync(readyFile) || undefined, 60_000)
  const { url, pid } = JSON.parse(readFileSync(readyFile, 'utf8')) as { url: string; pid: number }
  return { name: 'gatehouse', url, pid }
}

/** HAProxy as a plain proxy; undefined where it is not on PATH. */
export async function startHaproxy(scope: Scope, upstreamUrl: string): Promise<Subject | undefined> {
  if (!isOnPath('haproxy')) return undefined
  const file = join(tempFolder(scope), 'haproxy.cfg')
  const port = await freePort()
  const lines = [
    'global',
    '  nbthread 1',
    'defaults',
    '  mode http',
    '  timeout connect 5s',
    '  timeout client 30s',
    '  timeout server 5s',
    '  timeout tunnel 30s',
    'frontend front',
    `  bind 127.0.0.1:${port}`,
    '  default_backend back',
    'backend back',
    `  server upstream ${new URL(upstreamUrl).host}`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
  scope.teardown(() => end(child))
  const url = `http://127.0.0.1:${port}`
  await until('HAProxy listens', () =>
    connectWire(url).then(
      (wire) => {
        wire.close()
        return true
      },
      () => undefined,
    ),
  )
  return { name: 'HAProxy', url, pid: child.pid ?? 0 }
}

function tempFolder(scope: Scope): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-fidelity-'))
  scope.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
