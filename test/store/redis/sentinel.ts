import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import type { Test } from 'tap'
import { freePort, until } from '../../setup/net.ts'
import { type RedisServer, startRedis } from '../../setup/redis.ts'
import { openInspector } from './place.ts'

export interface SentinelSetup {
  readonly name: string
  readonly port: number
  readonly master: RedisServer
  readonly replica: RedisServer
  /** Talks to the sentinel. */
  readonly client: Redis
}

const name = 'gatehouse'

/** A master, its replica, and one sentinel that may decide alone. */
export async function startSentinel(t: Test): Promise<SentinelSetup> {
  const master = await startRedis(t)
  const replica = await startRedis(t, ['--replicaof', '127.0.0.1', String(master.port)])
  const port = await startWatch(t, master)
  const client = openInspector(t, { url: `redis://127.0.0.1:${port}` })
  await until('the sentinel knows the replica', async () => {
    const replicas = await client.call('SENTINEL', 'REPLICAS', name).catch(() => [])
    return JSON.stringify(replicas).includes('"master-link-status","ok"') || undefined
  })
  return { name, port, master, replica, client }
}

async function startWatch(t: Test, master: RedisServer): Promise<number> {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-sentinel-'))
  const file = join(dir, 'sentinel.conf')
  const lines = [
    ...[`port ${port}`, 'bind 127.0.0.1', `dir ${dir}`],
    `sentinel monitor ${name} 127.0.0.1 ${master.port} 1`,
    `sentinel down-after-milliseconds ${name} 300`,
    `sentinel failover-timeout ${name} 3000`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    rmSync(dir, { recursive: true, force: true })
  })
  return port
}
