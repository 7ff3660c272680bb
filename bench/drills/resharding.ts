import { setImmediate } from 'node:timers/promises'
import { ownerAndOther, reshard, startRedisCluster } from '../../test/setup/redis-cluster.ts'
import type { Scope } from '../scope.ts'
import { startBackend } from './backend.ts'
import { createClient, type DrillClient } from './client.ts'
import type { Report } from './figures.ts'
import { type InstanceGroup, startInstanceGroup } from './instance-group.ts'

const accounts = 200
/** Of these accounts the first have a session, each refreshed by one client only. */
const lanes = 10
const moves = 2
/** How many responses arrive between any two moved keys. */
const answersPerKey = 10
const anyKey = 'gh:{account}:ids'

interface Tally {
  /** Counts of responses: `200`, `503 store-unavailable`. */
  readonly refreshes: Map<string, number>
  readonly requests: Map<string, number>
  answered: number
  isOver: boolean
}

/** A Cluster moves the slot of all accounts twice, key by key, under refreshes and requests: no session ends. */
export async function resharding(scope: Scope, report: Report): Promise<void> {
  const masters = await startRedisCluster(scope)
  const nodes = masters.map(({ server }) => `127.0.0.1:${server.port}`)
  const stores = Array.from({ length: 2 }, () => ({ cluster: { nodes }, replicas: 0 }))
  // Short, so that keys are looked up constantly.
  const config = { cache: { ttl: '1s', negativeTtl: '1s' } }
  const fleet = await startInstanceGroup(scope, { backendUrl: await startBackend(scope), stores, config })
  const client = createClient()
  scope.teardown(client.close)
  const made = await fleet.createAccounts(accounts)
  const urls = fleet.instances.map(({ url }) => url)
  const tally: Tally = { refreshes: new Map(), requests: new Map(), answered: 0, isOver: false }
  const tokens = await Promise.all(
    made.slice(0, lanes).map(async ({ secretKey, apiKey }) => {
      const keys = { SecretKey: secretKey, APIKey: apiKey }
      const { body } = await client.post(`${urls[0]}/api/v1/accounts/access-token`, keys)
      return String(body.RefreshToken)
    }),
  )
  const load = [
    ...tokens.map((token) => keepRefreshing(client, urls, token, tally)),
    ...Array.from({ length: lanes }, (_, lane) => keepAsking(client, fleet, made.slice(lane), tally)),
  ]
  for (let move = 1; move <= moves; move++) {
    const startedAt = performance.now()
    const keys = await reshard(masters, anyKey, async () => {
      const seen = tally.answered
      while (tally.answered < seen + answersPerKey) await setImmediate()
    })
    const { owner } = await ownerAndOther(masters, anyKey)
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
    report.line(`move ${move}: ${keys} keys to port ${owner.server.port} in ${seconds} s`)
  }
  tally.isOver = true
  await Promise.all(load)

  report.line(`refreshes: ${wordsOf(tally.refreshes)}`)
  report.line(`requests with a secret key: ${wordsOf(tally.requests)}`)
  for (const [what, answers] of [
    ['refresh', tally.refreshes],
    ['request', tally.requests],
  ] as const) {
    const wrong = [...answers.keys()].filter((answer) => !/^200|^503 store-unavailable/.test(answer))
    report.demand(`each ${what} was answered, or 503 store-unavailable`, wrong.length === 0, wordsOf(answers))
  }
}

/** One session, refreshed without pauses with its latest token. */
async function keepRefreshing(
  client: DrillClient,
  urls: readonly string[],
  first: string,
  tally: Tally,
): Promise<void> {
  let token = first
  for (let turn = 0; !tally.isOver; turn++) {
    const { status, body } = await client.post(`${urls[turn % urls.length]}/api/v1/accounts/refresh-token`, {
      token,
    })
    tally.answered++
    count(tally.refreshes, status === 200 ? '200' : `${status} ${String(body.code)}`)
    if (status === 200) token = String(body.refreshToken)
  }
}

async function keepAsking(
  client: DrillClient,
  { instances }: InstanceGroup,
  accounts: readonly { readonly secretKey: string }[],
  tally: Tally,
): Promise<void> {
  for (let turn = 0; !tally.isOver; turn++) {
    const { url = '' } = instances[turn % instances.length] ?? {}
    const { secretKey = '' } = accounts[(turn * 7) % accounts.length] ?? {}
    const status = await client.get(`${url}/`, { SecretKey: secretKey })
    tally.answered++
    count(tally.requests, status === 503 ? '503 store-unavailable' : String(status))
  }
}

function count(answers: Map<string, number>, answer: string): void {
  answers.set(answer, (answers.get(answer) ?? 0) + 1)
}

function wordsOf(answers: ReadonlyMap<string, number>): string {
  return [...answers].map(([answer, times]) => `${times} × ${answer}`).join(', ') || 'none'
}
