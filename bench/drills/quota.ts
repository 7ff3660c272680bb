import { startRedis } from '../../test/setup/redis.ts'
import type { Scope } from '../scope.ts'
import { startBackend } from './backend.ts'
import { createClient, type DrillClient } from './client.ts'
import type { Report } from './figures.ts'
import { type InstanceGroup, startInstanceGroup } from './instance-group.ts'

const limit = 10_000
const connections = 64
const rounds = 5

/** How many requests of a quota pass over three instances, each round with an account of its own. */
export async function quota(scope: Scope, report: Report): Promise<void> {
  const redis = await startRedis(scope)
  const stores = Array.from({ length: 3 }, () => ({ url: redis.url }))
  const config = { plans: { free: { quota: { limit, per: 'month' } } } }
  const fleet = await startInstanceGroup(scope, { backendUrl: await startBackend(scope), stores, config })
  const client = createClient()
  scope.teardown(client.close)
  for (let round = 1; round <= rounds; round++) {
    const secretKey = await createLimited(fleet, round)
    const startedAt = performance.now()
    const { passed, others } = await useUp(fleet, client, secretKey)
    const seconds = (performance.now() - startedAt) / 1_000
    report.demand(
      `between ${limit} and ${limit * 1.01} pass`,
      passed >= limit && passed <= limit * 1.01 && others.size === 0,
      `${passed}, in ${seconds.toFixed(1)} s${others.size > 0 ? `; other answers: ${[...others]}` : ''}`,
    )
  }
}

async function createLimited({ operate }: InstanceGroup, round: number): Promise<string> {
  const account = { email: `limited${round}@example.com`, firstName: '', lastName: '', role: 'User' }
  const created = await operate(({ accounts }) =>
    accounts.create({ ...account, isVerified: true, plan: 'free' }),
  )
  return created.secretKey
}

/** Each connection sends requests to one instance until it is refused. */
async function useUp({ instances }: InstanceGroup, client: DrillClient, secretKey: string) {
  let passed = 0
  const others = new Set<number>()
  const lanes = Array.from({ length: connections }, async (_, lane) => {
    const { url = '' } = instances[lane % instances.length] ?? {}
    for (;;) {
      const status = await client.get(url, { SecretKey: secretKey })
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
