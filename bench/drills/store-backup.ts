import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CreatedAccount } from '#accounts/accounts.ts'
import { errorMessage } from '#platform/errors/operator-error.ts'
import { startRedis } from '../../test/setup/redis.ts'
import type { Scope } from '../scope.ts'
import { startBackend } from './backend.ts'
import { createClient, type DrillClient } from './client.ts'
import { percentile, type Report } from './figures.ts'
import { configOf, type InstanceGroup, startInstanceGroup } from './instance-group.ts'

const drivers = ['sqlite', 'redis'] as const
type Driver = (typeof drivers)[number]

const accountCount = 200
const sessionCount = 50
const secondsByDefault = 15
/** Between two writes of one writer. */
const pauseMs = 5

/** Backups beside writers, each restored into the other driver and used there. @param seconds for each driver */
export async function storeBackup(scope: Scope, report: Report, [seconds]: readonly string[]): Promise<void> {
  const forMs = Number(seconds ?? secondsByDefault) * 1_000
  for (const from of drivers) await drillFrom(from, { scope, report, forMs })
}

interface Options {
  readonly scope: Scope
  readonly report: Report
  readonly forMs: number
}

async function drillFrom(from: Driver, { scope, report, forMs }: Options): Promise<void> {
  const to = from === 'sqlite' ? 'redis' : 'sqlite'
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-drill-'))
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'sealing.key'), Buffer.alloc(32, 7).toString('base64'))
  const place: Place = { scope, folder, backendUrl: await startBackend(scope) }
  const source = await storeOf(from, 'source', place)
  const fleet = await startOn(source, place)
  const client = createClient()
  scope.teardown(client.close)
  const work = await startWork(fleet, client)
  const durations: number[] = []
  const disturbed: string[] = []
  let [missing, unverified, rounds] = [0, 0, 0]
  for (const until = performance.now() + forMs; performance.now() < until; rounds++) {
    const known = work.acknowledged()
    const file = join(folder, `${rounds}.backup`)
    const failedBefore = work.failures.length
    const begunAt = performance.now()
    await gatehouse(['store', 'backup', file, '--config', configFile(source, place)])
    durations.push(performance.now() - begunAt)
    disturbed.push(...work.failures.slice(failedBefore))
    const target = await storeOf(to, `target-${rounds}`, place)
    await gatehouse(['store', 'restore', file, '--config', configFile(target, place)])
    const verified = await gatehouse(['audit', 'verify', '--config', configFile(target, place)]).then(
      () => true,
      () => false,
    )
    if (!verified) unverified++
    const restored = await startOn(target, place)
    missing += await countMissing(restored, { client, known, now: work.acknowledged() })
    for (const { child } of restored.instances) child.kill('SIGKILL')
    await target.end()
  }
  const writes = await work.stop()
  report.line(
    `${rounds} backups of ${from} beside ${writes} writes, ${percentile(durations, 0.5).toFixed(0)} ms each`,
  )
  report.demand(`no write of before is missing in ${to}`, missing === 0 && rounds > 0, `${missing} missing`)
  report.demand('audit verify holds', unverified === 0, `${unverified} of ${rounds} do not`)
  report.demand(
    'a backup disturbs no writer',
    disturbed.length === 0,
    disturbed.join('; ') || 'no write failed meanwhile',
  )
  // Then another gateway starts, and writes to the same disk.
  const others = work.failures.length - disturbed.length
  if (others > 0) report.line(`${others} writes failed while a backup was restored on this machine`)
}

interface Place {
  readonly scope: Scope
  readonly folder: string
  readonly backendUrl: string
}

interface DrillStore {
  readonly name: string
  readonly store: object
  end(): Promise<void>
}

async function storeOf(driver: Driver, name: string, { scope, folder }: Place): Promise<DrillStore> {
  if (driver === 'sqlite')
    return { name, store: { driver, sqlite: { path: join(folder, `${name}.db`) } }, end: async () => {} }
  const redis = await startRedis(scope)
  return { name, store: { driver, redis: { url: redis.url } }, end: () => redis.stop() }
}

function startOn({ store }: DrillStore, { scope, backendUrl }: Place): Promise<InstanceGroup> {
  return startInstanceGroup(scope, { backendUrl, stores: [{}], config: { store } })
}

function configFile({ name, store }: DrillStore, { folder, backendUrl }: Place): string {
  const file = join(folder, `${name}.yaml`)
  writeFileSync(file, JSON.stringify(configOf(backendUrl, {}, { store })))
  return file
}

/** @throws where it fails */
async function gatehouse(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ['src/main.ts', ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
  const [status] = await once(child, 'exit')
  if (status !== 0) throw new Error(`gatehouse ${args.join(' ')}: exit status ${status}`)
}

/** What the store has confirmed. */
interface Acknowledged {
  /** All keys of each account, the latest last. */
  readonly keys: ReadonlyMap<string, readonly string[]>
  /** The latest refresh token of each session. */
  readonly tokens: readonly string[]
}

/** Resets keys, makes accounts and refreshes sessions until it is stopped. */
async function startWork(fleet: InstanceGroup, client: DrillClient) {
  const created = await fleet.createAccounts(accountCount + sessionCount)
  const keys = new Map(created.map(({ account, secretKey }) => [account.id, [secretKey]]))
  const resettable = created.slice(sessionCount)
  const url = fleet.instances[0]?.url ?? ''
  const tokens = await Promise.all(
    created.slice(0, sessionCount).map((account) => signIn(url, client, account)),
  )
  /** Why writes failed. */
  const failures: string[] = []
  let [isOn, writes] = [true, 0]

  async function repeat(write: (turn: number) => Promise<void>): Promise<void> {
    for (let turn = 0; isOn; turn++) {
      await write(turn).then(
        () => writes++,
        (error: unknown) => failures.push(errorMessage(error)),
      )
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  const resetting = fleet.operate(async ({ defaultKeys, accounts }) => {
    const reset = repeat(async (turn) => {
      const id = resettable[turn % resettable.length]?.account.id ?? ''
      keys.get(id)?.push(await defaultKeys.resetSecretKey(id, 0))
    })
    const create = repeat(async (turn) => {
      const person = { firstName: '', lastName: '', role: 'User', isVerified: true }
      const made = await accounts.create({ email: `new${turn}@example.com`, ...person })
      keys.set(made.account.id, [made.secretKey])
    })
    await Promise.all([reset, create])
  })
  const refreshing = repeat(async (turn) => {
    const index = turn % tokens.length
    const { status, body } = await client.post(`${url}/api/v1/accounts/refresh-token`, {
      token: tokens[index],
    })
    if (status !== 200) throw new Error(`a refresh was answered ${status}`)
    tokens[index] = String(body.refreshToken)
  })

  return {
    acknowledged: (): Acknowledged => ({
      keys: new Map([...keys].map(([id, all]) => [id, [...all]])),
      tokens: [...tokens],
    }),
    failures,
    stop: async () => {
      isOn = false
      await Promise.all([resetting, refreshing])
      return writes
    },
  }
}

async function signIn(
  url: string,
  client: DrillClient,
  { secretKey, apiKey }: CreatedAccount,
): Promise<string> {
  const keys = { SecretKey: secretKey, APIKey: apiKey }
  return String((await client.post(`${url}/api/v1/accounts/access-token`, keys)).body.RefreshToken)
}

/**
 * Of each account the key of before the backup has to work, or one that was made meanwhile, and none from before that;
 * of each session the latest token.
 */
async function countMissing(
  { instances }: InstanceGroup,
  {
    client,
    known,
    now,
  }: { readonly client: DrillClient; readonly known: Acknowledged; readonly now: Acknowledged },
): Promise<number> {
  const url = instances[0]?.url ?? ''
  const works = async (key: string) => (await client.get(url, { SecretKey: key })) === 200
  let missing = 0
  for (const [id, all] of known.keys) {
    const current = (now.keys.get(id) ?? []).slice(all.length - 1)
    const working = await Promise.all(current.map(works))
    const isSpentRefused = all.length < 2 || !(await works(all.at(-2) ?? ''))
    if (!isSpentRefused || !working.includes(true)) missing++
  }
  for (const token of now.tokens) {
    const { status } = await client.post(`${url}/api/v1/accounts/refresh-token`, { token })
    if (status !== 200) missing++
  }
  return missing
}
