import { inScope, type Scope } from '../scope.ts'
import { Report } from './figures.ts'

/** A drill with real processes: prints a small report, and fails if a requirement is not met. */
type Drill = (scope: Scope, report: Report, args: readonly string[]) => Promise<void>

const drills: Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<Drill> }>> = {
  backup: {
    summary:
      'backups beside writers, each restored into the other driver; 15 s each, or as the argument says',
    load: async () => (await import('./store-backup.ts')).storeBackup,
  },
  counting: {
    summary: 'the CPU time that quotas and usage add to a request, on SQLite',
    load: async () => (await import('./counting.ts')).counting,
  },
  revocation: {
    summary: '500 resets under load over 3 instances, then with pub/sub cut all the time',
    load: async () => (await import('./revocation.ts')).revocation,
  },
  events: {
    summary:
      'receivers of events that hang and fail, the delivering instance killed, 10,000 behind a dead one',
    load: async () => (await import('./events.ts')).events,
  },
  outage: {
    summary: 'Redis paused, killed, flushed, out of reach of one instance, failed over by Sentinel',
    load: async () => (await import('./outage.ts')).outage,
  },
  failover: {
    summary:
      'the master lost under refreshes, back after 1, 25 and 120 s: Sentinel 1+1 and 1+2, Cluster 3+3; a pause',
    load: async () => (await import('./failover.ts')).failover,
  },
  frozen: {
    summary: 'a gateway stopped for 2, 5 and 60 s (or as the arguments say) while keys are reset',
    load: async () => (await import('./frozen.ts')).frozen,
  },
  instances: {
    summary:
      '1,000 simulated instances (or as the first argument says) on one Redis, idle or `busy`, and at resets',
    load: async () => (await import('./instances.ts')).instances,
  },
  keys: {
    summary: '500 revocations of single keys under load over 3 instances, then with pub/sub cut all the time',
    load: async () => (await import('./keys.ts')).keys,
  },
  quota: {
    summary:
      'a quota of 10,000 that is used up over 64 connections to 3 instances, five times; then one of units; then that of a key that is rotated after a kill -9',
    load: async () => (await import('./quota.ts')).quota,
  },
  refresh: {
    summary: '100,000 refreshes over 1,000 sessions and 3 instances',
    load: async () => (await import('./refresh.ts')).refresh,
  },
  resharding: {
    summary: 'a Redis Cluster moves the slot of all accounts twice, key by key, under load',
    load: async () => (await import('./resharding.ts')).resharding,
  },
  scale: {
    summary:
      'a million accounts with three keys each in Redis, 100,000 principals in the process, made-up keys',
    load: async () => (await import('./scale.ts')).scale,
  },
  soak: {
    summary:
      'mixed load on a real Redis, with faults and attacks: --seconds 10 to 7200 (1800), --seed for the same faults',
    load: async () => (await import('../soak/run.ts')).runSoak,
  },
  worker: {
    summary: 'workers are killed while Redis is gone: known callers keep being served',
    load: async () => (await import('./worker.ts')).worker,
  },
}

const [name, ...args] = process.argv.slice(2)
const drill = name === undefined ? undefined : drills[name]
if (!drill) {
  const isAsked = name === '--help' || name === '-h'
  const lines = Object.entries(drills).map(([known, { summary }]) => `  ${known.padEnd(12)}${summary}`)
  const write = isAsked ? console.log : console.error
  write(['npm run drill -- NAME', '', ...lines].join('\n'))
  process.exit(isAsked ? 0 : 2)
}

const report = new Report()
await inScope(async (scope) => {
  const run = await drill.load()
  await run(scope, report, args)
})
process.exit(report.isGood ? 0 : 1)
