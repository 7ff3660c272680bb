import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort, until } from './net.ts'

export interface RedisServer {
  readonly port: number
  readonly url: string
  /** Ends it by a signal and waits until it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>
  /** Starts it again on the same port and data. */
  start(): Promise<void>
  /** Sends it a signal, such as SIGSTOP. */
  signal(signal: NodeJS.Signals): void
}

/** A real Redis of this test alone: on a free port, with a folder of its own, gone with the test. */
export async function startRedis(t: Test, args: readonly string[] = []): Promise<RedisServer> {
  const port = await freePort()
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
    url: `redis://127.0.0.1:${port}`,
    stop,
    start,
    signal: (signal) => void child?.kill(signal),
  }
}

/** Whether a Redis takes commands there; undefined = not yet. */
function answers(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.on('error', () => resolve(undefined))
    socket.on('data', (data) => {
      socket.destroy()
      resolve(data.toString().startsWith('+PONG') || data.toString().startsWith('-NOAUTH') ? true : undefined)
    })
  })
}
