import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { startRedis } from '../test/setup/redis.ts'
import type { Load } from './load.ts'

/** What is measured: a process, and what it is asked. */
export interface Subject {
  readonly name: string
  readonly child: ChildProcess
  readonly load: Omit<Load, 'connections' | 'durationMs'>
}

interface Ready {
  readonly url: string
  readonly pairs: readonly string[]
  readonly secretKey: string
  readonly accessToken: string
  readonly refreshTokens: readonly string[]
}

export interface Bench {
  readonly subjects: readonly Subject[]
  /** The process that makes the load. */
  readonly load: ChildProcess
  close(): Promise<void>
}

/** On a core of its own where the system can do that, the load and the backend on another. */
const pins = spawnSync('taskset', ['--version']).status === 0

function start(file: string, core: number, args: readonly string[] = []): ChildProcess {
  const child = fork(new URL(file, import.meta.url), [...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  if (pins) spawnSync('taskset', ['-a', '-c', '-p', String(core), String(child.pid)])
  return child
}

async function readyOf(child: ChildProcess): Promise<Ready> {
  // The cast is sound: it is what the process of that file sends first.
  const [ready] = (await once(child, 'message')) as [Ready]
  return ready
}

export async function startBench(): Promise<Bench> {
  const ends: (() => unknown)[] = []
  const redis = await startRedis({ teardown: (end) => void ends.push(end) })
  const backend = start('backend.ts', 1)
  const { url: backendUrl } = await readyOf(backend)
  const bare = start('bare.ts', 0)
  const { url: bareUrl } = await readyOf(bare)
  const gateway = start('gateway.ts', 0, [backendUrl])
  const { url, secretKey, accessToken } = await readyOf(gateway)
  const onRedis = start('gateway.ts', 0, [backendUrl, redis.url])
  const { url: redisGatewayUrl, pairs, refreshTokens } = await readyOf(onRedis)
  const load = start('load.ts', 1)

  const get = (at: string, path: string, header = ''): Subject['load'] => {
    return { url: at, method: 'GET', path, header, bodies: [], isRefresh: false }
  }
  const post = (path: string, bodies: readonly string[], isRefresh: boolean): Subject['load'] => {
    return { url: redisGatewayUrl, method: 'POST', path, header: '', bodies, isRefresh }
  }
  const tokenBodies = refreshTokens.map((token) => JSON.stringify({ token }))

  return {
    subjects: [
      { name: 'bare node:http answer', child: bare, load: get(bareUrl, '/') },
      { name: 'public route', child: gateway, load: get(url, '/public') },
      { name: 'secret key', child: gateway, load: get(url, '/any', `SecretKey: ${secretKey}\r\n`) },
      {
        name: 'bearer token',
        child: gateway,
        load: get(url, '/any', `Authorization: Bearer ${accessToken}\r\n`),
      },
      {
        name: 'access-token, on Redis',
        child: onRedis,
        load: post('/api/v1/accounts/access-token', pairs, false),
      },
      {
        name: 'refresh-token, on Redis',
        child: onRedis,
        load: post('/api/v1/accounts/refresh-token', tokenBodies, true),
      },
    ],
    load,
    close: async () => {
      for (const child of [load, onRedis, gateway, bare, backend]) child.disconnect()
      for (const end of ends.toReversed()) await end()
    },
  }
}
