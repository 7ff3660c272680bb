import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort, until } from '../../../setup/net.ts'

/** What a proxy sits between. */
export interface Neighbours {
  /** The main listener and the one for other proxies. */
  readonly gatehouse: string
  readonly decide: string
  readonly backend: string
}

/** A proxy that runs for a test. */
export interface RunningProxy {
  readonly url: string
  readonly pid: number
  /** What it wrote. */
  readonly output: readonly string[]
}

/** How a proxy is started with a config of deploy/proxies. */
export interface ProxyKind {
  readonly name: string
  /** File of deploy/proxies. */
  readonly file: string
  /** Prepares a folder with the config. @returns the command line, and its environment */
  command(
    config: string,
    folder: string,
    neighbours: Neighbours,
  ): { readonly program: string; readonly args: readonly string[]; readonly env?: Record<string, string> }
}

/** The addresses in the files of deploy/proxies, those of the proxy aside: its port is 8000. */
const addresses = {
  gatehouse: '127.0.0.1:8080',
  decide: '127.0.0.1:8081',
  backend: '127.0.0.1:3000',
} as const
const proxyPort = '8000'

/** A file as people copy it, with the addresses of this test, as far as it has them. */
export function withAddresses(file: string, neighbours: Neighbours): string {
  const names = ['gatehouse', 'decide', 'backend'] as const
  // Marked until the end: an address of this test may be one of the file.
  return names
    .reduce(
      (text, name) => text.replaceAll(addresses[name], `\0${new URL(neighbours[name]).host}`),
      readFileSync(join('deploy/proxies', file), 'utf8'),
    )
    .replaceAll('\0', '')
}

function readProxyConfig(file: string, port: number, neighbours: Neighbours): string {
  const text = withAddresses(file, neighbours)
  if (!text.includes(proxyPort)) throw new Error(`${file} has no port ${proxyPort}`)
  return text.replaceAll(new RegExp(`(?<=:)${proxyPort}\\b`, 'g'), String(port))
}

/** Starts a real proxy with its config of deploy/proxies; it ends with the test. */
export async function startProxy(t: Test, kind: ProxyKind, neighbours: Neighbours): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-proxy-'))
  const port = await freePort()
  const { program, args, env } = kind.command(
    readProxyConfig(kind.file, port, neighbours),
    folder,
    neighbours,
  )
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: folder, ...env },
  })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => void output.push(chunk.toString()))
  t.teardown(async () => {
    await end(child)
    rmSync(folder, { recursive: true, force: true })
  })
  await until(`${kind.name} listens: ${output.join('')}`, () => {
    if (child.exitCode !== null) throw new Error(`${kind.name} has ended: ${output.join('')}`)
    return canConnect(port)
  })
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, output }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

async function canConnect(port: number): Promise<true | undefined> {
  const socket = connect(port, '127.0.0.1')
  const isConnected = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  })
  socket.destroy()
  return isConnected || undefined
}
