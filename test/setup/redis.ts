import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assertProgram } from './missing-program.ts'
import { freePort, until } from './net.ts'

// uses: redis-server

/** What ends with a test, or with whatever else starts servers. */
export interface Scope {
  teardown(end: () => unknown): void
}

/** Paths of a certificate and its key. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

export interface RedisServer {
  readonly port: number
  /** Where it is spoken to in TLS; undefined = nowhere. */
  readonly tlsPort: number | undefined
  readonly url: string
  /** Ends it by a signal and waits until it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>
  /** Starts it again on the same port and data. */
  start(): Promise<void>
  /** Sends it a signal, such as SIGSTOP. */
  signal(signal: NodeJS.Signals): void
}

/**
 * A real Redis of this test alone: on a free port, with a folder of its own, gone with the test.
 * @param tls also listens there with TLS, and speaks it to other servers
 * @throws MissingProgram where there is no Redis
 */
export async function startRedis(
  t: Scope,
  args: readonly string[] = [],
  tls?: TlsFiles,
): Promise<RedisServer> {
  assertProgram('redis-server')
  const port = await freePort()
  const tlsPort = tls && (await freePort())
  const secureArgs = tls && tlsPort ? ['--tls-port', String(tlsPort), ...tlsArgs(tls)] : []
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-redis-'))
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    child = spawn(
      'redis-server',
      [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--dir',
        dir,
        '--save',
        '',
        '--loglevel',
        'warning',
        ...secureArgs,
        ...args,
      ],
      { stdio: 'ignore' },
    )
    await until('redis answers', () => answers(port))
  }

  async function stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGCONT')
    child.kill(signal)
    await once(child, 'exit')
  }

  t.teardown(async () => {
    await stop()
    rmSync(dir, { recursive: true, force: true })
  })
  await start()
  return {
    port,
    tlsPort,
    url: `redis://127.0.0.1:${port}`,
    stop,
    start,
    signal: (signal) => void child?.kill(signal),
  }
}

/** What a server, a sentinel or a node of a Cluster needs for TLS, beside its port. */
export function tlsArgs({ cert, key }: TlsFiles): readonly string[] {
  return [
    '--tls-cert-file',
    cert,
    '--tls-key-file',
    key,
    '--tls-ca-cert-file',
    cert,
    '--tls-auth-clients',
    'no',
    '--tls-replication',
    'yes',
    '--tls-cluster',
    'yes',
  ]
}

/** Whether a Redis takes commands there; undefined = not yet. */
async function answers(port: number): Promise<true | undefined> {
  const answer = await redisCommand(port, 'PING').catch(() => '')
  return answer.startsWith('+PONG') || answer.startsWith('-NOAUTH') || undefined
}

/** Sends one command without spaces in its words. @returns the answer, as far as it comes at once */
export function redisCommand(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\r\n`))
    socket.on('error', reject)
    socket.on('close', () => resolve(''))
    socket.on('data', (data) => {
      socket.destroy()
      resolve(data.toString())
    })
  })
}
