import { startRedis } from '../../test/setup/redis.ts'
import type { Scope } from '../scope.ts'
import { startBackend } from './backend.ts'
import { createClient, type DrillClient } from './client.ts'
import { type Report, summary } from './figures.ts'
import { type InstanceGroup, startInstanceGroup } from './instance-group.ts'

const sessions = 1_000
/** How often each session is refreshed, and by how many concurrent requests with the same token. */
const waves = 10
const atOnce = 10
/** Concurrent sessions. */
const lanes = 20

interface Tally {
  readonly latencies: number[]
  /** Counts of responses by code. */
  readonly refusals: Map<string, number>
  forked: number
}

/** Many tabs and lost responses: concurrent refreshes with one token never revoke or fork a session. */
export async function refresh(scope: Scope, report: Report): Promise<void> {
  const redis = await startRedis(scope, ['--appendonly', 'yes'])
  const stores = Array.from({ length: 3 }, () => ({ url: redis.url }))
  const fleet = await startInstanceGroup(scope, { backendUrl: await startBackend(scope), stores })
  const client = createClient()
  scope.teardown(client.close)
  const waiting = [...(await fleet.createAccounts(sessions))]
  const tally: Tally = { latencies: [], refusals: new Map(), forked: 0 }
  const startedAt = performance.now()
  const work = Array.from({ length: lanes }, async () => {
    for (let made = waiting.pop(); made; made = waiting.pop()) {
      const [{ url = '' } = {}] = fleet.instances
      const keys = { SecretKey: made.secretKey, APIKey: made.apiKey }
      const { body } = await client.post(`${url}/api/v1/accounts/access-token`, keys)
      await refreshOften(client, fleet, String(body.RefreshToken), tally)
    }
  })
  await Promise.all(work)
  const seconds = (performance.now() - startedAt) / 1_000
  const count = tally.latencies.length
  report.line(`${count} refreshes in ${seconds.toFixed(0)} s, ${summary(tally.latencies)} ms`)
  report.demand('100,000 refreshes', count === sessions * waves * atOnce, String(count))
  const refusals = [...tally.refusals].map(([code, times]) => `${times} ${code}`).join(', ')
  report.demand('no false reuse, none refused', tally.refusals.size === 0, refusals || 'none')
  report.demand(
    'no forked session',
    tally.forked === 0,
    `${tally.forked} waves with more than one next token`,
  )
}

async function refreshOften(
  client: DrillClient,
  { instances }: InstanceGroup,
  first: string,
  tally: Tally,
): Promise<void> {
  let token = first
  for (let wave = 0; wave < waves; wave++) {
    const answers = await Promise.all(
      Array.from({ length: atOnce }, async (_, index) => {
        const sentAt = performance.now()
        const { url = '' } = instances[(wave + index) % instances.length] ?? {}
        const answer = await client.post(`${url}/api/v1/accounts/refresh-token`, { token })
        tally.latencies.push(performance.now() - sentAt)
        return answer
      }),
    )
    for (const { status, body } of answers) {
      const code = String(body.code)
      if (status !== 200) tally.refusals.set(code, (tally.refusals.get(code) ?? 0) + 1)
    }
    const given = answers.filter(({ status }) => status === 200)
    const next = new Set(given.map(({ body }) => String(body.refreshToken)))
    if (next.size > 1) tally.forked++
    token = String(given[0]?.body.refreshToken)
  }
}
