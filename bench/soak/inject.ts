import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { until } from '../../test/setup/net.ts'
import type { RedisServer } from '../../test/setup/redis.ts'
import type { Instance } from '../drills/instance-group.ts'
import { sleep } from './clients.ts'
import type { Explanation, Fault } from './faults.ts'

/** What faults are injected into. */
export interface FaultTargets {
  readonly redis: RedisServer
  readonly instances: readonly Instance[]
  /** One of each upstream, whose process is replaced when it was killed. */
  readonly targets: Readonly<Record<'http1' | 'http2', Target | undefined>>
}

export interface Target {
  readonly child: () => ChildProcess
  restart(): Promise<void>
}

const ofStore: readonly Explanation[] = ['store-unavailable']
const ofTargets: readonly Explanation[] = [
  'upstream-unreachable',
  'upstream-unavailable',
  'upstream-timeout',
  'upstream-invalid-response',
  'no-answer',
]
/** A killed process drops its connections, and a starting one may not have read the store yet. */
const ofProcesses: readonly Explanation[] = ['no-answer', 'store-unavailable']
const pausedMs = 1_500

/** All faults, each of which reverts itself. */
export function createFaults({ redis, instances, targets }: FaultTargets): readonly Fault[] {
  const [first, last] = [instances[0], instances.at(-1)]
  const { http1, http2 } = targets
  if (!first || !last || !http1 || !http2) throw new Error('nothing to do faults to')
  return [
    {
      name: 'Redis paused',
      explains: ofStore,
      run: async () => {
        redis.signal('SIGSTOP')
        await sleep(pausedMs)
        redis.signal('SIGCONT')
      },
    },
    {
      name: 'Redis killed',
      explains: ofStore,
      run: async () => {
        await redis.stop('SIGKILL')
        await sleep(pausedMs)
        await redis.start()
      },
    },
    ...faultsOf('target', http1),
    ...faultsOf('target of HTTP/2', http2),
    {
      name: 'worker killed',
      explains: ofProcesses,
      run: async () => {
        const before = workersOf(last)
        const [worker] = before
        if (worker === undefined) throw new Error('an instance has no worker')
        process.kill(worker, 'SIGKILL')
        await until('the worker is replaced', async () => {
          const now = workersOf(last)
          return now.length === before.length && !now.includes(worker) && (await isReady(last))
        })
      },
    },
    {
      name: 'instance stopped',
      // Nothing is lost: pending requests are answered when it resumes. Its store may seem unreachable for a moment.
      explains: ofStore,
      run: async () => {
        const pids = [...workersOf(first), ...(first.child.pid === undefined ? [] : [first.child.pid])]
        for (const pid of pids) process.kill(pid, 'SIGSTOP')
        await sleep(pausedMs)
        for (const pid of pids.toReversed()) process.kill(pid, 'SIGCONT')
      },
    },
    {
      name: 'reload',
      explains: [],
      run: async () => {
        const answers = await Promise.all(
          instances.map(({ opsUrl }) => fetch(`${opsUrl}/reload`, { method: 'POST' })),
        )
        for (const answer of answers)
          if (!answer.ok) throw new Error(`a reload failed: ${await answer.text()}`)
      },
    },
  ]
}

function faultsOf(name: string, target: Target): readonly Fault[] {
  return [
    {
      name: `${name} killed`,
      explains: ofTargets,
      run: async () => {
        target.child().kill('SIGKILL')
        await sleep(pausedMs)
        await target.restart()
      },
    },
    {
      name: `${name} paused`,
      explains: ofTargets,
      run: async () => {
        const child = target.child()
        child.kill('SIGSTOP')
        await sleep(pausedMs)
        child.kill('SIGCONT')
      },
    },
  ]
}

async function isReady({ opsUrl }: Instance): Promise<boolean> {
  return (await fetch(`${opsUrl}/readyz`)).ok
}

/** The workers of an instance: the processes that it has started. */
function workersOf({ child: { pid } }: Instance): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number)
}
