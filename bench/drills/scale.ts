import { type KeyOptions, makeDefaultKey, makeKey, makeSecretKey } from '#accounts/keys/make-key.ts'
import { createDirectory } from '#identity/cache/cached-directory.ts'
import { StoreConnectionState } from '#identity/cache/store-connection.ts'
import { createSecretKeyScheme } from '#identity/secret-key.ts'
import { createAccountId, createKey, parseKey } from '#platform/secrets/keys.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import { monotonicClock } from '#platform/time.ts'
import { openRedisStore } from '#store/redis/store.ts'
import type { Store } from '#store/store.ts'
import { redisCommand, startRedis } from '../../test/setup/redis.ts'
import { optionsOf } from '../../test/store/redis/place.ts'
import { newAccount, startSession } from '../../test/store/samples.ts'
import type { Scope } from '../scope.ts'
import { percentile, type Report, summary } from './figures.ts'

const accounts = 1_000_000
const chunk = 500
/** Secret keys of an account. */
const keysEach = 3
/** At most one of each account. */
const sessions = 100_000
const lookUps = 20_000
const principals = 100_000
const madeUp = 200_000

/** How a directory behaves with a large store: in this process, so that its memory can be measured. */
export async function scale(scope: Scope, report: Report, [size]: readonly string[]): Promise<void> {
  const total = Number(size ?? accounts)
  const redis = await startRedis(scope)
  const store = openRedisStore(optionsOf(redis, { commandTimeoutMs: 30_000 }), { listens: false })
  scope.teardown(() => store.close())
  await store.ready(5_000)
  const keys = await fill(report, store, total)
  report.line(
    `${total} accounts with ${keysEach} secret keys take ${((await memoryOf(redis.port)) / total).toFixed(0)} bytes each in Redis`,
  )
  await fillSessions(report, store, redis.port, keys.slice(0, sessions))

  const latencies = await lookUpCold(store, keys)
  report.demand('cold look-up p99 <= 2 ms', percentile(latencies, 0.99) <= 2, `${summary(latencies, 2)} ms`)
  const { bytes, directory } = await fillDirectory(store, keys.slice(0, principals))
  report.demand(`${principals} principals in <= 130 MB`, bytes <= 130e6, `${(bytes / 1e6).toFixed(0)} MB`)
  await tryMadeUpKeys(report, redis.port, directory, keys)
}

/** @returns one key of each account: of the first the default key, of the next its second, and so on */
async function fill(report: Report, store: Store, total: number): Promise<string[]> {
  const options = { sealer: createSealer(Buffer.alloc(32, 7)), reveal: true, prefix: 'gate', clock: Date.now }
  const keys: string[] = []
  const startedAt = performance.now()
  for (let made = 0; made < total; made += chunk) {
    const created = Array.from({ length: Math.min(chunk, total - made) }, (_, index) =>
      makeAccount(made + index, options),
    )
    await store.createAccounts(created.map(({ account }) => account))
    for (const [index, { secretKeys }] of created.entries()) keys.push(secretKeys[index % keysEach] ?? '')
    if (made % 50_000 === 0) process.stderr.write(`\r${made} of ${total} accounts`)
  }
  process.stderr.write('\n')
  report.line(`filled in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`)
  return keys
}

function makeAccount(index: number, options: KeyOptions) {
  const id = createAccountId()
  const limits = { scopes: [], addresses: [], expiresAt: undefined }
  const further = Array.from({ length: keysEach - 1 }, (_, count) =>
    makeSecretKey(id, { name: `key-${count}`, ...limits }, options),
  )
  const made = [makeDefaultKey(id, options), ...further]
  const account = newAccount({
    id,
    email: `user${index}@example.com`,
    secretKeys: made.map(({ stored }) => stored),
    apiKey: makeKey('apiKey', id, options).stored,
  })
  return { account, secretKeys: made.map(({ key }) => key) }
}

async function memoryOf(port: number): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redisCommand(port, 'INFO memory'))?.[1])
}

/** A session for each of these keys' accounts. */
async function fillSessions(
  report: Report,
  store: Store,
  port: number,
  keys: readonly string[],
): Promise<void> {
  const before = await memoryOf(port)
  for (let start = 0; start < keys.length; start += chunk) {
    const started = keys.slice(start, start + chunk).map(async (key) => {
      const account = await store.findAccount(parseKey('secretKey', key)?.accountId ?? '')
      if (account) await startSession(store, account)
    })
    await Promise.all(started)
  }
  const bytes = ((await memoryOf(port)) - before) / keys.length
  report.line(`${keys.length} sessions take ${bytes.toFixed(0)} bytes each in Redis`)
}

function openDirectory(store: Store) {
  const storeConnection = new StoreConnectionState()
  storeConnection.isUp = true
  storeConnection.completeSince = 0
  return createDirectory({
    store,
    storeConnection,
    entriesMax: principals,
    ttlMs: 60_000,
    negativeTtlMs: 5_000,
    maxStaleMs: 600_000,
    tokenLifetimeMs: 600_000,
    clockToleranceMs: 5_000,
    requireSecondFactor: 'nobody',
    clock: Date.now,
    monotonic: monotonicClock,
    report: () => {},
    confirm: async () => {},
    catchUp: async () => {},
    refresh: () => {},
  })
}

async function lookUpCold(store: Store, keys: readonly string[]): Promise<number[]> {
  const scheme = createSecretKeyScheme(openDirectory(store), Date.now)
  const latencies: number[] = []
  for (let index = 0; index < lookUps; index++) {
    const key = keys[Math.floor((index * keys.length) / lookUps)] ?? ''
    const startedAt = performance.now()
    const { kind } = await scheme.authenticate(key)
    latencies.push(performance.now() - startedAt)
    if (kind !== 'authenticated') throw new Error('a key of the store is not known')
  }
  return latencies
}

async function fillDirectory(store: Store, keys: readonly string[]) {
  const directory = openDirectory(store)
  const ids = keys.map((key) => parseKey('secretKey', key)?.accountId ?? '')
  const before = memoryInUse()
  for (let start = 0; start < ids.length; start += chunk) {
    await Promise.all(ids.slice(start, start + chunk).map((id) => directory.account(id)))
  }
  return { bytes: memoryInUse() - before, directory }
}

/** Heap and external memory, after two garbage collections. */
function memoryInUse(): number {
  if (!globalThis.gc) throw new Error('run it through npm run drill, which lets it collect garbage')
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function tryMadeUpKeys(
  report: Report,
  port: number,
  directory: ReturnType<typeof openDirectory>,
  keys: readonly string[],
) {
  const scheme = createSecretKeyScheme(directory, Date.now)
  const before = await commandsSoFar(port)
  for (let index = 0; index < madeUp; index++) {
    const key = createKey('secretKey', createAccountId())
    await scheme.authenticate(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`)
  }
  const spent = (await commandsSoFar(port)) - before
  report.demand('a wrong checksum costs no look-up', spent <= 5, `${madeUp} keys, ${spent} commands`)
  for (let start = 0; start < madeUp; start += chunk) {
    const made = Array.from({ length: chunk }, () => createKey('secretKey', createAccountId()))
    await Promise.all(made.map((key) => scheme.authenticate(key)))
  }
  const known = keys
    .slice(0, principals)
    .filter((key) => !(scheme.authenticate(key) instanceof Promise)).length
  report.demand(
    'right checksums push nobody out',
    known === Math.min(principals, keys.length),
    `${known} still known`,
  )
}

async function commandsSoFar(port: number): Promise<number> {
  return Number(/total_commands_processed:(\d+)/.exec(await redisCommand(port, 'INFO stats'))?.[1])
}
