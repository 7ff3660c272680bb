import { startRedis } from '../../test/setup/redis.ts'
import type { Scope } from '../scope.ts'
import { startBackend } from './backend.ts'
import { createClient, type DrillClient } from './client.ts'
import type { Report } from './figures.ts'
import { type Instance, type InstanceGroup, startInstanceGroup } from './instance-group.ts'

const limit = 10_000
const connections = 64
const rounds = 5
/** The units of a request to /units. */
const cost = 7

/**
 * How many requests of a quota pass over three instances, each round with an account of its own; then of the quota of
 * a key that is rotated after one of them was killed.
 */
export async function quota(scope: Scope, report: Report): Promise<void> {
  const redis = await startRedis(scope)
  const stores = Array.from({ length: 3 }, () => ({ url: redis.url }))
  const route = { upstream: 'backend', auth: 'any' }
  const config = {
    plans: { free: { quota: { limit, per: 'month' } } },
    routes: [
      { name: 'any', path: '/', ...route },
      { name: 'units', path: '/units', ...route, costHeader: 'X-Cost', quotaCounts: 'units' },
    ],
  }
  const backendUrl = await startBackend(scope, { 'X-Cost': String(cost) })
  const fleet = await startInstanceGroup(scope, { backendUrl, stores, config })
  const client = createClient()
  scope.teardown(client.close)
  for (let round = 1; round <= rounds; round++) {
    const secretKey = await createLimited(fleet, round)
    const startedAt = performance.now()
    const { passed, others } = await useUp(fleet.instances, client, secretKey)
    const seconds = (performance.now() - startedAt) / 1_000
    report.demand(
      `between ${limit} and ${limit * 1.01} pass`,
      passed >= limit && passed <= limit * 1.01 && others.size === 0,
      `${passed}, in ${seconds.toFixed(1)} s${others.size > 0 ? `; other answers: ${[...others]}` : ''}`,
    )
  }
  for (let round = rounds + 1; round <= 2 * rounds; round++) await spendUnits(fleet, client, report, round)
  await rotateHalfway(fleet, client, report)
}

/** What is under way when the quota is used up may exceed it: one request of each connection. */
async function spendUnits(
  fleet: InstanceGroup,
  client: DrillClient,
  report: Report,
  round: number,
): Promise<void> {
  const secretKey = await createLimited(fleet, round)
  const { passed, others } = await useUp(fleet.instances, client, secretKey, { path: '/units' })
  const units = passed * cost
  const most = limit * 1.01 + connections * cost
  report.demand(
    `between ${limit} and ${most} units pass`,
    units >= limit && units <= most && others.size === 0,
    `${units}, of ${passed} requests${others.size > 0 ? `; other answers: ${[...others]}` : ''}`,
  )
}

async function rotateHalfway(fleet: InstanceGroup, client: DrillClient, report: Report): Promise<void> {
  const { instances, operate } = fleet
  const email = 'rotating@example.com'
  const before = await operate(async ({ accounts, secretKeys }) => {
    await accounts.create({ email, firstName: '', lastName: '', role: 'User', isVerified: true })
    const quota = { limit, per: 'month' } as const
    return secretKeys.create(email, { name: 'agent', scopes: [], addresses: [], quota, expiresAt: undefined })
  })
  const half = await useUp(instances, client, before, { each: Math.floor(limit / 2 / connections) })
  const [killed, ...left] = instances
  killed?.child.kill('SIGKILL')
  const { key: after } = await operate(({ secretKeys }) => secretKeys.rotate(email, 'agent', 3_600))
  const rest = await useUp(left, client, after)
  const passed = half.passed + rest.passed
  report.demand(
    `between ${limit} and ${limit * 1.01} pass with a key that is rotated while an instance is killed`,
    passed >= limit && passed <= limit * 1.01 && half.others.size + rest.others.size === 0,
    `${half.passed} before and ${rest.passed} after`,
  )
}

async function createLimited({ operate }: InstanceGroup, round: number): Promise<string> {
  const account = { email: `limited${round}@example.com`, firstName: '', lastName: '', role: 'User' }
  const created = await operate(({ accounts }) =>
    accounts.create({ ...account, isVerified: true, plan: 'free' }),
  )
  return created.secretKey
}

/** Each connection sends requests to one instance until it is refused, or has sent so many. */
async function useUp(
  instances: readonly Instance[],
  client: DrillClient,
  secretKey: string,
  { each = Number.POSITIVE_INFINITY, path = '/' } = {},
) {
  let passed = 0
  const others = new Set<number>()
  const lanes = Array.from({ length: connections }, async (_, lane) => {
    const { url = '' } = instances[lane % instances.length] ?? {}
    for (let sent = 0; sent < each; sent++) {
      const status = await client.get(url + path, { SecretKey: secretKey })
      if (status === 200) {
        passed++
        continue
      }
      if (status !== 429) others.add(status)
      return
    }
  })
  await Promise.all(lanes)
  return { passed, others }
}
