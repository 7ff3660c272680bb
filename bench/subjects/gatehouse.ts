import { createPublicKey, type webcrypto } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { withOperator as WithOperator } from '#cli/operator.ts'
import { until } from '../../test/setup/net.ts'
import { cores, startProgram } from '../processes.ts'
import type { Scope } from '../scope.ts'
import type { Credentials, Subject } from './subject.ts'
import type { TlsFiles } from './tls-files.ts'

/** How the gateway is started. */
export interface GatehouseOptions {
  readonly upstreamUrl: string
  /** Another checkout than this one, with its packages installed. */
  readonly checkout: string
  /** On this Redis; else on SQLite. */
  readonly redisUrl?: string
  /** Overrides of the config of the bench. */
  readonly config?: object
  /** The plan of the accounts. */
  readonly plan?: string
  /** TLS towards clients. */
  readonly tls?: TlsFiles
  /** Flags for Node itself. */
  readonly nodeFlags?: readonly string[]
}

export interface Gatehouse extends Subject {
  readonly configFile: string
  /** undefined = it has no listener for other proxies. */
  readonly decideUrl: string | undefined
  readonly credentials: Credentials
}

const accountCount = 200
/** By then it has collected the garbage of its start: the growth of its memory would be less than it is. */
const settleMs = 2_000

/** The program itself, as `gatehouse serve` starts it, and two hundred accounts with a session each. */
export async function startGatehouse(scope: Scope, options: GatehouseOptions): Promise<Gatehouse> {
  const { checkout, plan, tls, nodeFlags = [] } = options
  if (tls) setDefaultCACertificates([...getCACertificates('default'), tls.cert])
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
  scope.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'gateway.yaml')
  const readyFile = join(dir, 'ready')
  writeFileSync(file, JSON.stringify(configOf(options)))
  writeFileSync(join(dir, 'sealing.key'), Buffer.alloc(32, 7).toString('base64'))
  const { pid } = startProgram(scope, {
    core: cores.subject,
    cwd: checkout,
    // The access log, where the scenario has one.
    stdoutFile: join(dir, 'stdout.log'),
    command: [
      process.execPath,
      ...nodeFlags,
      'src/main.ts',
      'serve',
      '--config',
      file,
      '--ready-file',
      readyFile,
    ],
  })
  await until('the gateway is ready', () => existsSync(readyFile) || undefined, 30_000)
  const { url, decideUrl } = JSON.parse(readFileSync(readyFile, 'utf8')) as Ready
  const credentials = await makeCredentials({ url, file, checkout, plan })
  await sleep(settleMs)
  return { url, decideUrl, pids: [pid], configFile: file, credentials }
}

interface Ready {
  readonly url: string
  readonly decideUrl?: string
}

function configOf({ upstreamUrl, redisUrl, tls, config }: GatehouseOptions): object {
  const route = { upstream: 'backend', websocket: true, maxBody: 'unlimited' }
  return {
    listen: {
      port: 0,
      ...(tls && { tls: { cert: { file: tls.certFile }, key: { file: tls.keyFile } } }),
    },
    ops: { port: 0 },
    upstreams: { backend: { targets: [{ url: upstreamUrl }] } },
    routes: [
      { name: 'any', path: '/any', auth: 'any', ...route },
      { name: 'public', path: '/public', auth: 'none', ...route },
    ],
    keys: { sealingKey: { file: 'sealing.key' } },
    store:
      redisUrl === undefined
        ? { sqlite: { path: 'gatehouse.db' } }
        : { driver: 'redis', redis: { url: redisUrl } },
    tokens: { accessLifetime: '24h' },
    // Credentials of the scenario are invalid on purpose, from one address.
    limits: { failures: { limit: 1_000_000_000 } },
    log: { level: 'warn', access: false },
    ...config,
  }
}

interface Started {
  readonly url: string
  readonly file: string
  readonly checkout: string
  readonly plan: string | undefined
}

async function makeCredentials({ url, file, checkout, plan }: Started): Promise<Credentials> {
  // The cast is sound: a checkout of this project exports it there.
  const { withOperator } = (await import(join(checkout, 'src/cli/operator.ts'))) as {
    readonly withOperator: typeof WithOperator
  }
  const inputs = Array.from({ length: accountCount }, (_, index) => {
    const email = `bench${index}@example.com`
    return { email, firstName: '', lastName: '', role: 'User', isVerified: true, plan }
  })
  const made = await withOperator({ file, env: {} }, ({ accounts }) => accounts.createAll(inputs))
  const pairs = made.map(({ secretKey, apiKey }) => JSON.stringify({ SecretKey: secretKey, APIKey: apiKey }))
  const tokens: TokenAnswer[] = []
  for (const pair of pairs) tokens.push(await exchange(url, pair))
  return {
    secretKeys: made.map(({ secretKey }) => secretKey),
    accessTokens: tokens.map(({ JwtToken }) => JwtToken),
    refreshTokens: tokens.map(({ RefreshToken }) => RefreshToken),
    pairs,
    publicKey: await readPublicKey(url),
  }
}

interface TokenAnswer {
  readonly JwtToken: string
  readonly RefreshToken: string
}

async function exchange(url: string, body: string): Promise<TokenAnswer> {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch(`${url}/api/v1/accounts/access-token`, { method: 'POST', headers, body })
  if (answer.status !== 200) throw new Error(`no tokens: ${await answer.text()}`)
  return (await answer.json()) as TokenAnswer
}

async function readPublicKey(url: string): Promise<string> {
  const answer = await fetch(`${url}/.well-known/jwks.json`)
  const { keys } = (await answer.json()) as { readonly keys: readonly webcrypto.JsonWebKey[] }
  const [key] = keys
  if (!key) throw new Error('the gateway publishes no key')
  return createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString()
}
