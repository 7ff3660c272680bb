import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { Test } from 'tap'
import type { AccountInput } from '#accounts/account-input.ts'
import type { CreatedAccount } from '#accounts/accounts.ts'
import { type Operator, withOperator } from '#cli/operator.ts'
import { type LoadedConfig, loadConfig } from '#config/load.ts'
import { createLog } from '#platform/log/log.ts'
import { openGateway } from '#runtime/gateway.ts'
import { openApp, type WrittenConfig } from './app-gateway.ts'
import { type RedisServer, startRedis } from './redis.ts'

export const storeDrivers = ['sqlite', 'redis'] as const

export type StoreDriver = (typeof storeDrivers)[number]

/** Options of the config as they stand in the file. */
type Options = Readonly<Record<string, unknown>>

export interface TestGateway {
  readonly url: string
  readonly opsUrl: string
  /** Empty where the config has no listener for other proxies. */
  readonly decideUrl: string
  /** Empty where the config does not redirect plain HTTP. */
  readonly redirectUrl: string
  /** The config file, for commands. */
  readonly configFile: string
  readonly redis: RedisServer | undefined
  /** Every line of the log so far. */
  readonly logLines: readonly string[]
  createAccount(input?: Partial<AccountInput>): Promise<CreatedAccount>
  /** Does what a command would: on the same store, through a connection of its own. */
  operate<Result>(work: (operator: Operator) => Promise<Result>): Promise<Result>
  shutDown(): Promise<boolean>
  /** JSON over fetch, for calls whose bytes do not matter. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>
  /** Access token, refresh token and the rest, for both keys of an account. */
  tokens(account: CreatedAccount): Promise<TokenAnswer>
}

export interface TokenAnswer {
  readonly Id: string
  readonly JwtToken: string
  readonly RefreshToken: string
}

export interface TestGatewayOptions {
  /** Where requests go: the target of an upstream `backend`. */
  readonly backend?: string
  readonly driver?: StoreDriver
  readonly redis?: RedisServer
  /** Laid over the options of the test gateway. */
  readonly config?: Options
  readonly clock?: () => number
  /** What becomes of a config that a reload has read, before it is taken. */
  readonly onReread?: (loaded: LoadedConfig) => LoadedConfig
}

let isInApp = false

/** Until this test has ended, tests of this process get a Fastify app with the plugin where they ask for a gateway. */
export function startAppsInstead(t: Test): void {
  isInApp = true
  t.teardown(() => {
    isInApp = false
  })
}

/** Whether it is an app that tests get. */
export function isApp(): boolean {
  return isInApp
}

/** Why a test is not for apps; false where it runs on a gateway. */
export function notInApp(reason: string): string | false {
  return isInApp && reason
}

/** A whole gateway in this process: real sockets on free ports, a real store, gone with the test. */
export async function startGateway(t: Test, options: TestGatewayOptions = {}): Promise<TestGateway> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-test-'))
  const redis = options.driver === 'redis' ? (options.redis ?? (await startRedis(t))) : options.redis
  const configFile = join(dir, 'gateway.yaml')
  const written = configOf(options, redis)
  writeFileSync(configFile, JSON.stringify(written))
  if (redis) writeFileSync(join(dir, 'sealing.key'), Buffer.alloc(32, 7).toString('base64'))
  const input = { file: configFile, env: {} }
  const { onReread = (loaded) => loaded } = options
  const logLines: string[] = []
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      logLines.push(String(chunk))
      done()
    },
  })
  const gateway = isInApp
    ? await openApp(configFile, written as unknown as WrittenConfig, { stream, clock: options.clock })
    : await openProgram()
  if (options.driver === 'redis' && !isInApp) await untilReady(gateway.opsUrl)
  async function openProgram() {
    const loaded = loadConfig(input)
    return openGateway({
      loaded,
      rereadConfig: () => onReread(loadConfig(input)),
      log: createLog({ level: loaded.config.log.level, stream }),
      ...(options.clock && { clock: options.clock }),
    })
  }
  let isDown = false
  async function shutDown(): Promise<boolean> {
    isDown = true
    return gateway.shutDown()
  }
  t.teardown(async () => {
    if (!isDown) await shutDown()
    rmSync(dir, { recursive: true, force: true })
  })

  const operate: TestGateway['operate'] = (work) => withOperator(input, work)
  const post: TestGateway['post'] = (path, body, headers) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  let created = 0

  return {
    url: gateway.url,
    opsUrl: gateway.opsUrl,
    decideUrl: gateway.decideUrl ?? '',
    redirectUrl: ('redirectUrl' in gateway ? gateway.redirectUrl : undefined) ?? '',
    configFile,
    redis,
    logLines,
    operate,
    createAccount: (account = {}) => {
      created++
      const input = {
        email: `user${created}@example.com`,
        firstName: 'Ada',
        lastName: 'Lovelace',
        role: 'User',
      }
      return operate(({ accounts }) => accounts.create({ ...input, isVerified: true, ...account }))
    },
    shutDown,
    post,
    tokens: async ({ secretKey, apiKey }) => {
      const response = await post('/api/v1/accounts/access-token', { SecretKey: secretKey, APIKey: apiKey })
      if (response.status !== 200) throw new Error(`no tokens: ${await response.text()}`)
      return (await response.json()) as TokenAnswer
    },
  }
}

/** Tests send wrong credentials by the dozen; those of the limit set their own. */
const unlimited = { failures: { limit: 1_000_000, per: '1m' } }

function configOf(
  { backend = 'http://127.0.0.1:1', config = {} }: TestGatewayOptions,
  redis: RedisServer | undefined,
) {
  return {
    listen: { port: 0 },
    ops: { port: 0, hosts: ['gateway.test'] },
    upstreams: { backend: { targets: [{ url: backend }] } },
    routes: [
      { name: 'public', path: '/public', upstream: 'backend', auth: 'none' },
      { name: 'optional', path: '/optional', upstream: 'backend', auth: 'optional' },
      { name: 'key', path: '/key', upstream: 'backend', auth: 'secretKey' },
      { name: 'bearer', path: '/bearer', upstream: 'backend', auth: 'bearer' },
      { name: 'any', path: '/any', upstream: 'backend', auth: 'any' },
      { name: 'admin', path: '/admin', upstream: 'backend', auth: 'any', roles: ['Admin'] },
      { name: 'verified', path: '/verified', upstream: 'backend', auth: 'any', verifiedOnly: true },
    ],
    keys: { sealingKey: { file: 'sealing.key' } },
    store: redis ? { driver: 'redis', redis: { url: redis.url } } : { sqlite: { path: 'gatehouse.db' } },
    shutdown: { drain: '50ms' },
    ...config,
    limits: { ...unlimited, ...(config.limits as Options | undefined) },
  }
}

/** How long a gateway may take to find its Redis on a busy machine; where there is none, no test waits longer. */
const readyTimeoutMs = 3_000

/** It takes requests before its store answers: most tests are about what comes after. */
async function untilReady(opsUrl: string): Promise<void> {
  const deadline = performance.now() + readyTimeoutMs
  while (performance.now() < deadline) {
    const { status } = (await (await fetch(`${opsUrl}/readyz`)).json()) as { readonly status: string }
    if (status === 'ok') return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
