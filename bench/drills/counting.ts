import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openUsageRecorder } from '#accounts/usage/recorder.ts'
import { createUsageMeter } from '#gateway/server/usage-meter.ts'
import type { Principal } from '#identity/decision.ts'
import { createPlanLimits } from '#identity/limits/plans.ts'
import { openQuotas } from '#identity/limits/quotas.ts'
import { openStore } from '#store/open.ts'
import { createAccount } from '../../test/store/samples.ts'
import type { Scope } from '../scope.ts'
import { percentile, type Report } from './figures.ts'

const accountCount = 200
const requests = 200_000
/** How many come in a second of the clock of the drill, and are one write of usage. */
const perSecond = 40_000
const runs = 15
/** 5 % of a small GET with a key, which takes 11.5 µs of CPU (bench/README.md). */
const nsMax = 575

/**
 * The CPU time that quotas and usage add to a request, on SQLite, writes included: measured alone, as the difference
 * between two gateways is less than what other work on the machine adds to either.
 */
export async function counting(scope: Scope, report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-drill-'))
  const store = await openStore({ driver: 'sqlite', path: join(folder, 'gatehouse.db') }, 'request')
  scope.teardown(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  const principals: Principal[] = []
  for (let count = 0; count < accountCount; count++) {
    const { id } = await createAccount(store, { plan: 'large' })
    principals.push(principalOf(id))
  }
  const startedAt = Date.now()
  let taken = 0
  const elapsedMs = () => (taken * 1_000) / perSecond
  const shared = { store, clock: () => startedAt + elapsedMs() }
  const quotas = openQuotas({
    ...shared,
    storeConnection: { isUp: true },
    monotonic: elapsedMs,
    processes: () => 1,
    onStoreFailure: () => {},
  })
  const takePlanLimits = createPlanLimits({
    plans: { large: { quota: { limit: 1e12, per: 'month' }, rateLimit: undefined } },
    limiter: { take: () => Promise.reject(new Error('this plan has no rate')) },
    quotas,
    onUnknown: () => {},
    unknownPlanRequests: { inc: () => {} },
  })
  const recorder = openUsageRecorder({ ...shared, onLoss: ({ error }) => Promise.reject(error) })
  const meter = createUsageMeter(recorder)
  const route = { name: 'any', saysCost: false }

  const quotaNs = await measure(async () => {
    for (let index = 0; index < requests; index++) {
      taken++
      const excess = takePlanLimits(principals[index % accountCount], elapsedMs())
      if (excess instanceof Promise && (await excess)) throw new Error('the quota is used up')
    }
  })
  report.line(
    `a quota: ${figures(quotaNs)} ns of CPU a request, ${perSecond / accountCount} a second of each account`,
  )
  const usageNs = await measure(async () => {
    for (let index = 0; index < requests; index++) {
      const principal = principals[index % accountCount]
      taken++
      if (principal) meter.onForwarded(route, principal, elapsedMs())
      if (taken % perSecond === 0) await recorder.flush()
    }
  })
  report.line(`usage: ${figures(usageNs)} ns of CPU a request, with a write for ${perSecond}`)
  const sum = percentile(quotaNs, 0.5) + percentile(usageNs, 0.5)
  report.demand(`together <= ${nsMax} ns, 5 % of a request`, sum <= nsMax, `${sum.toFixed(0)} ns`)
  await quotas.close()
  await recorder.close()
}

/** @returns the CPU time of a request in each run but the first, in nanoseconds */
async function measure(work: () => Promise<void>): Promise<readonly number[]> {
  const found: number[] = []
  for (let run = 0; run <= runs; run++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    found.push(((user + system) * 1_000) / requests)
  }
  return found.slice(1)
}

function figures(ns: readonly number[]): string {
  const [least, median, most] = [Math.min(...ns), percentile(ns, 0.5), Math.max(...ns)]
  return `${median.toFixed(0)} (${least.toFixed(0)} to ${most.toFixed(0)})`
}

function principalOf(accountId: string): Principal {
  return {
    accountId,
    role: 'User',
    scheme: 'secretKey',
    sessionId: undefined,
    key: 'default',
    scopes: [],
    addresses: [],
    quota: undefined,
    plan: 'large',
    profile: undefined,
    issuer: undefined,
  }
}
