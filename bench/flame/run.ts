import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { until } from '../../test/setup/net.ts'
import { startRedis } from '../../test/setup/redis.ts'
import { runClosed } from '../load/closed.ts'
import type { LoadResults } from '../load/commands.ts'
import { runH2load } from '../load/h2load.ts'
import { runWrk } from '../load/wrk.ts'
import { cores, startModule } from '../processes.ts'
import type { ReadyMessage } from '../report-url.ts'
import { withKeys, withTokens, writeRequest } from '../scenarios/requests.ts'
import { inScope, type Scope } from '../scope.ts'
import { type Gatehouse, startGatehouse } from '../subjects/gatehouse.ts'
import { isInstalled } from '../subjects/peers.ts'
import { drawFlame } from './draw.ts'
import { type CpuProfile, type Frame, readProfile } from './profile.ts'
import { shareOf } from './share.ts'

/** Writes a flame graph of the gateway under load. `node bench/flame/run.ts --help` lists the options. */

const { values } = parseArgs({
  options: {
    auth: { type: 'string', default: 'bearer' },
    plan: { type: 'boolean', default: false },
    cold: { type: 'boolean', default: false },
    http2: { type: 'boolean', default: false },
    store: { type: 'string', default: 'sqlite' },
    seconds: { type: 'string', default: '5' },
    out: { type: 'string', default: 'flame.svg' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(
    'node bench/flame/run.ts [--auth bearer|key|none] [--plan] [--cold] [--http2] [--store sqlite|redis] [--seconds 5] [--out flame.svg]\n\n' +
      '--plan: all accounts have a quota, which is never used up\n' +
      '--cold: a cache of one entry, so that each key is looked up in the store\n' +
      '--http2: requests over HTTP/2 without TLS, by h2load; always with the same credential',
  )
  process.exit()
}

function requestsOf({ credentials }: Gatehouse): readonly string[] {
  if (values.auth === 'none') return [writeRequest('GET /public')]
  if (values.auth === 'key') return withKeys('GET /any', credentials.secretKeys)
  if (values.auth === 'bearer') return withTokens('GET /any', credentials.accessTokens)
  throw new Error(`--auth is bearer, key or none, not ${values.auth}`)
}

const plans = { large: { quota: { limit: 1_000_000_000_000, per: 'month' } } }

/** Node writes the profile when the gateway exits. @returns it, and the number of its requests */
async function profile(scope: Scope): Promise<{ readonly root: Frame; readonly answers: number }> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-flame-'))
  scope.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const { ready } = await startModule<ReadyMessage>(scope, { core: cores.load, file: 'upstream.ts' })
  const gateway = await startGatehouse(scope, {
    upstreamUrl: ready.url,
    checkout: process.cwd(),
    config: { shutdown: { drain: '100ms' }, plans, ...(values.cold && { cache: { entries: 1 } }) },
    ...(values.plan && { plan: 'large' }),
    ...(values.store === 'redis' && { redisUrl: (await startRedis(scope)).url }),
    nodeFlags: ['--cpu-prof', '--cpu-prof-dir', dir, '--cpu-prof-interval', '200'],
  })
  const requests = requestsOf(gateway)
  const fromUs = nowUs()
  const { answers } = await runLoad(gateway.url, requests)
  const toUs = nowUs()
  for (const pid of gateway.pids) process.kill(pid, 'SIGTERM')
  const file = await until('the profile is written', () => readdirSync(dir)[0], 20_000)
  const written = await until('it is whole', () => wholeJson(join(dir, file)), 20_000)
  return { root: readProfile(written, { fromUs, toUs, root: process.cwd() }), answers }
}

function runLoad(url: string, requests: readonly string[]): Promise<LoadResults['closed']> {
  const durationMs = Number(values.seconds) * 1_000
  if (values.http2) return runH2load({ ...asH2(url, requests[0] ?? ''), durationMs })
  const order = { kind: 'closed', url, requests, status: 200, connections: 32, durationMs } as const
  return isInstalled('wrk') ? runWrk(order) : runClosed(order)
}

/** A request for h2load, from the wire text of HTTP/1.1. */
function asH2(url: string, request: string) {
  const [line = '', ...lines] = request.trim().split('\r\n')
  const fields = lines.map((text) => text.split(': ', 2)).filter(([name]) => name !== 'Host')
  return {
    url: url + (line.split(' ')[1] ?? ''),
    headers: Object.fromEntries(fields.map(([name = '', value = '']) => [name.toLowerCase(), value])),
  }
}

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1_000n)
}

function wholeJson(file: string): CpuProfile | undefined {
  try {
    // The cast is sound: it is what V8 writes.
    return JSON.parse(readFileSync(file, 'utf8')) as CpuProfile
  } catch {
    return undefined
  }
}

/** Where requests are counted. */
const countingFiles = {
  quotas: ['src/identity/limits/plans.ts', 'src/identity/limits/quotas.ts', 'src/store/sqlite/quotas.ts'],
  usage: [
    'src/gateway/server/usage-meter.ts',
    'src/accounts/usage/recorder.ts',
    'src/accounts/usage/counts.ts',
  ],
}

const { root, answers } = await inScope(profile)
const perRequest = (root.totalUs / answers).toFixed(1)
const title = `gatehouse, small GET${values.http2 ? ' over HTTP/2' : ''}, auth ${values.auth}: ${answers} requests, ${perRequest} µs each under the profiler`
writeFileSync(values.out, drawFlame(root, title))
console.log(`${title}\n${resolve(values.out)}`)
for (const [what, files] of Object.entries(countingFiles))
  console.log(`${(shareOf(root, files) * 100).toFixed(1)} % of the CPU time: ${what}`)
