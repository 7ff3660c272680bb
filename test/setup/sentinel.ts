import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, until } from './net.ts'
import { type RedisServer, redisCommand, type Scope, startRedis, type TlsFiles, tlsArgs } from './redis.ts'

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
/** How soon a silent master counts as down: later than a busy machine keeps one silent that lives. */
const downAfterMs = 2_500

interface SentinelSetupOptions {
  /** Of each Redis; default none. */
  readonly args?: readonly string[]
  /** All of them speak it with each other, and `sentinelPorts` are those for it. */
  readonly tls?: TlsFiles
  /** Default 2. */
  readonly replicas?: number
}

/** A master with replicas and three sentinels, all real, gone with the scope. */
export async function startSentinel(
  scope: Scope,
  { args = [], tls, replicas: count = 2 }: SentinelSetupOptions = {},
): Promise<SentinelSetup> {
  const master = await startRedis(scope, args, tls)
  const masterPort = master.tlsPort ?? master.port
  const follow = ['--replicaof', '127.0.0.1', String(masterPort), '--repl-diskless-sync-delay', '0']
  const replicas = await Promise.all(
    Array.from({ length: count }, () => startRedis(scope, [...args, ...follow], tls)),
  )
  await until('the replicas follow', async () => {
    const info = await redisCommand(master.port, 'INFO replication')
    return info.match(/state=online/g)?.length === count || undefined
  })
  const ports = await Promise.all(Array.from({ length: sentinels }, () => startOne(scope, masterPort, tls)))
  await until('the sentinels know each other', async () => {
    const views = await Promise.all(ports.map(({ plain }) => redisCommand(plain, 'INFO sentinel')))
    return views.every((view) => view.includes(`slaves=${count},sentinels=${sentinels}`)) || undefined
  })
  return {
    servers: [master, ...replicas],
    sentinelPorts: ports.map(({ plain, secure }) => secure ?? plain),
    masterName,
    masterPort: async () => {
      const answer = await redisCommand(
        ports[0]?.plain ?? 0,
        `SENTINEL get-master-addr-by-name ${masterName}`,
      )
      return Number(answer.split('\r\n')[4])
    },
  }
}

interface SentinelPorts {
  readonly plain: number
  readonly secure: number | undefined
}

async function startOne(scope: Scope, masterPort: number, tls?: TlsFiles): Promise<SentinelPorts> {
  const plain = await freePort()
  const secure = tls && (await freePort())
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-sentinel-'))
  const file = join(dir, 'sentinel.conf')
  writeFileSync(
    file,
    [
      `port ${plain}`,
      'bind 127.0.0.1',
      `dir ${dir}`,
      ...(tls && secure ? [`tls-port ${secure}`, ...linesOf(tlsArgs(tls))] : []),
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
    const answer = await redisCommand(plain, 'PING').catch(() => '')
    return answer.startsWith('+PONG') || undefined
  })
  return { plain, secure }
}

/** Arguments as lines of a configuration file. */
function linesOf(args: readonly string[]): readonly string[] {
  return args.join(' ').split(/ ?--/).slice(1)
}
