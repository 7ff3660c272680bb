import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, until } from './net.ts'
import { type RedisServer, redisCommand, type Scope, startRedis } from './redis.ts'

export interface SentinelSetup {
  /** The master first. */
  readonly servers: readonly RedisServer[]
  readonly sentinelPorts: readonly number[]
  readonly masterName: string
  /** Port of the master as the sentinels see it. */
  masterPort(): Promise<number>
}

const masterName = 'main'
const sentinels = 3
/** How soon a silent master counts as down. */
const downAfterMs = 500

/** A master with two replicas and three sentinels, all real, gone with the scope. */
export async function startSentinel(scope: Scope, args: readonly string[] = []): Promise<SentinelSetup> {
  const master = await startRedis(scope, args)
  const follow = ['--replicaof', '127.0.0.1', String(master.port), '--repl-diskless-sync-delay', '0']
  const replicas = await Promise.all([0, 1].map(() => startRedis(scope, [...args, ...follow])))
  await until('both replicas follow', async () => {
    const info = await redisCommand(master.port, 'INFO replication')
    return info.match(/state=online/g)?.length === 2 || undefined
  })
  const sentinelPorts = await Promise.all(
    Array.from({ length: sentinels }, () => startOne(scope, master.port)),
  )
  await until('the sentinels know each other', async () => {
    const views = await Promise.all(sentinelPorts.map((port) => redisCommand(port, 'INFO sentinel')))
    return views.every((view) => view.includes(`slaves=2,sentinels=${sentinels}`)) || undefined
  })
  return {
    servers: [master, ...replicas],
    sentinelPorts,
    masterName,
    masterPort: async () => {
      const answer = await redisCommand(
        sentinelPorts[0] ?? 0,
        `SENTINEL get-master-addr-by-name ${masterName}`,
      )
      return Number(answer.split('\r\n')[4])
    },
  }
}

async function startOne(scope: Scope, masterPort: number): Promise<number> {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-sentinel-'))
  const file = join(dir, 'sentinel.conf')
  writeFileSync(
    file,
    [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${dir}`,
      `sentinel monitor ${masterName} 127.0.0.1 ${masterPort} 2`,
      `sentinel down-after-milliseconds ${masterName} ${downAfterMs}`,
      `sentinel failover-timeout ${masterName} 5000`,
    ].join('\n'),
  )
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
  scope.teardown(() => {
    child.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  })
  await until('the sentinel answers', async () => {
    const answer = await redisCommand(port, 'PING').catch(() => '')
    return answer.startsWith('+PONG') || undefined
  })
  return port
}
