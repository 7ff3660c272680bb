import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Operator, withOperator } from '#cli/operator.ts'
import { redisCommand, startRedis } from '../../test/setup/redis.ts'
import type { Scope } from '../scope.ts'
import { percentile, type Report, summary } from './figures.ts'
import { configOf } from './instance-group.ts'
import type { Answer, Question } from './instances-process.ts'

const usualInstances = 1_000
/** Whole instances among them, in one process: their delays are measured. */
const wholeInstances = 20
const replayingProcesses = 2
const idleMs = 15_000
const resets = 40
/** How long after a reset the instances are checked: within that time each has read the change log. */
const watchedMs = 500
const openWithinMs = 120_000

/** How often the replayed instances read the change log, and how many calls of scripts each makes then at least. */
const paces = {
  idle: { pollMs: 400, callsMin: 3 },
  busy: { pollMs: 150, callsMin: 6 },
} as const
type Pace = keyof typeof paces

/**
 * Many instances on one Redis: the load on Redis while nothing changes, and how long a reset takes to reach them.
 * Twenty are whole but for their listeners, and are measured; of the others only the traffic to Redis is replayed, so
 * that a machine of two cores has time left. Each has cached each account that is reset, and so looks it up again: the
 * most expensive case.
 */
export async function instances(
  scope: Scope,
  report: Report,
  [asked, ofPace]: readonly string[],
): Promise<void> {
  const total = Number(asked ?? usualInstances)
  const pace: Pace = ofPace === 'busy' ? 'busy' : 'idle'
  const redis = await startRedis(scope, ['--appendonly', 'yes'])
  const file = writeConfig(scope, redis.url)
  await withOperator({ file, env: {} }, async (operator) => {
    const created = await operator.accounts.createAll(
      Array.from({ length: resets }, (_, index) => ({
        email: `drill${index}@example.com`,
        firstName: 'Ada',
        lastName: 'Lovelace',
        role: 'User',
        isVerified: true,
      })),
    )
    const whole = Math.min(total, wholeInstances)
    const group = await startGroup(scope, 'instances-process.ts', [file, String(whole)])
    const share = Math.ceil((total - whole) / replayingProcesses)
    const shares = Array.from({ length: replayingProcesses }, (_, index) =>
      Math.max(0, Math.min(share, total - whole - index * share)),
    )
    for (const count of shares)
      await startGroup(scope, 'replayed-instances.ts', [
        '--port',
        String(redis.port),
        '--count',
        String(count),
        '--poll-ms',
        String(paces[pace].pollMs),
      ])
    await measureIdle(report, redis.port, { total, pace })
    const delays: number[] = []
    for (const { account } of created) delays.push(...(await reset(operator, group, account.id)))
    report.demand(
      'every measured instance heard of every reset within 500 ms',
      delays.length === whole * resets,
      `${delays.length} of ${whole * resets}`,
    )
    report.demand(
      'a reset is applied after its answer: p99 <= 50 ms',
      percentile(delays, 0.99) <= 50,
      `${summary(delays)} ms`,
    )
  })
}

function writeConfig(scope: Scope, url: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-drill-'))
  scope.teardown(() => rmSync(dir, { recursive: true, force: true }))
  writeFileSync(join(dir, 'sealing.key'), Buffer.alloc(32, 7).toString('base64'))
  const file = join(dir, 'gateway.yaml')
  writeFileSync(file, JSON.stringify(configOf('http://127.0.0.1:1', { url })))
  return file
}

async function startGroup(scope: Scope, script: string, args: readonly string[]): Promise<ChildProcess> {
  const group = fork(new URL(script, import.meta.url), args)
  scope.teardown(() => group.kill('SIGKILL'))
  await heardFrom(group, 'open', openWithinMs)
  return group
}

async function heardFrom<Kind extends Answer['kind']>(
  group: ChildProcess,
  kind: Kind,
  withinMs = 30_000,
): Promise<Extract<Answer, { kind: Kind }>> {
  const [answer] = (await once(group, 'message', { signal: AbortSignal.timeout(withinMs) })) as [Answer]
  if (answer.kind !== kind) throw new Error(`a process answered ${answer.kind}, not ${kind}`)
  // The cast is sound: its kind has just been compared.
  return answer as Extract<Answer, { kind: Kind }>
}

function ask<Kind extends Answer['kind']>(group: ChildProcess, question: Question, kind: Kind) {
  const answer = heardFrom(group, kind)
  group.send(question)
  return answer
}

async function measureIdle(
  report: Report,
  port: number,
  { total, pace }: { readonly total: number; readonly pace: Pace },
): Promise<void> {
  const before = await readUse(port)
  await new Promise((resolve) => setTimeout(resolve, idleMs))
  const after = await readUse(port)
  const seconds = (after.at - before.at) / 1_000
  const share = (after.cpuSeconds - before.cpuSeconds) / seconds
  const calls = (after.calls - before.calls) / seconds
  report.line(
    `${total} instances, ${pace}: ${after.connections} connections, ${calls.toFixed(0)} calls of scripts a second, ` +
      `${((share * 1e6) / calls).toFixed(0)} µs of CPU each`,
  )
  const isInPace = calls >= total * paces[pace].callsMin
  report.demand('readings keep their pace', isInPace, `${(calls / total).toFixed(1)} a second each`)
  report.demand('Redis without changes <= 40 % of a core', share <= 0.4, `${(share * 100).toFixed(1)} %`)
}

async function readUse(port: number) {
  const cpu = await redisCommand(port, 'INFO cpu')
  const figure = (pattern: RegExp, text: string) => Number(pattern.exec(text)?.[1] ?? Number.NaN)
  return {
    at: performance.now(),
    cpuSeconds: figure(/used_cpu_sys:([\d.]+)/, cpu) + figure(/used_cpu_user:([\d.]+)/, cpu),
    calls: figure(/cmdstat_evalsha:calls=(\d+)/, await redisCommand(port, 'INFO commandstats')),
    connections: figure(/connected_clients:(\d+)/, await redisCommand(port, 'INFO clients')) - 1,
  }
}

/** @returns for each instance that applied the reset, how long after its response, in ms */
async function reset({ defaultKeys }: Operator, group: ChildProcess, accountId: string) {
  await ask(group, { kind: 'know', accountId }, 'known')
  await defaultKeys.resetSecretKey(accountId, 0)
  const answeredAt = Number(process.hrtime.bigint()) / 1e6
  await new Promise((resolve) => setTimeout(resolve, watchedMs))
  const { at } = await ask(group, { kind: 'heard', accountId }, 'heard')
  return at.map((time) => Math.max(0, time - answeredAt))
}
