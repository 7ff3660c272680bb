import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CreatedAccount } from '#accounts/accounts.ts'
import { type Operator, withOperator } from '#cli/operator.ts'
import { until } from '../../test/setup/net.ts'
import type { Scope } from '../scope.ts'

/** One gateway, in a separate process. */
export interface Instance {
  readonly url: string
  readonly opsUrl: string
  readonly child: ChildProcess
}

export interface InstanceGroup {
  readonly instances: readonly Instance[]
  /** Runs operator commands on the same store. */
  operate<Result>(work: (operator: Operator) => Promise<Result>): Promise<Result>
  createAccounts(count: number): Promise<readonly CreatedAccount[]>
}

export interface InstanceGroupOptions {
  readonly backendUrl: string
  /** `store.redis` of each instance; as many instances as there are. */
  readonly stores: readonly object[]
  readonly config?: object
}

/** Starts real gateways, one for each store config, before one backend. */
export async function startInstanceGroup(
  scope: Scope,
  { backendUrl, stores, config }: InstanceGroupOptions,
): Promise<InstanceGroup> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-drill-'))
  writeFileSync(join(dir, 'sealing.key'), Buffer.alloc(32, 7).toString('base64'))
  scope.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const files = stores.map((redis, index) => {
    const file = join(dir, `gateway-${index}.yaml`)
    writeFileSync(file, JSON.stringify(configOf(backendUrl, redis, config)))
    return file
  })
  const instances = await Promise.all(files.map((file) => startInstance(scope, file)))
  const operate: InstanceGroup['operate'] = (work) => withOperator({ file: files[0], env: {} }, work)
  return {
    instances,
    operate,
    createAccounts: (count) =>
      operate(({ accounts }) =>
        accounts.createAll(
          Array.from({ length: count }, (_, index) => ({
            email: `drill${index}@example.com`,
            firstName: '',
            lastName: '',
            role: 'User',
            isVerified: true,
          })),
        ),
      ),
  }
}

/** The config of a gateway of a drill, whose sealing key is beside it. */
export function configOf(backendUrl: string, redis: object, config: object = {}): object {
  return {
    listen: { port: 0 },
    ops: { port: 0 },
    upstreams: { backend: { targets: [{ url: backendUrl }] } },
    routes: [{ name: 'any', path: '/', upstream: 'backend', auth: 'any' }],
    keys: { sealingKey: { file: 'sealing.key' } },
    store: { driver: 'redis', redis },
    log: { level: 'warn', access: false },
    shutdown: { drain: '0s' },
    limits: { failures: { limit: 1_000_000_000 } },
    ...config,
  }
}

async function startInstance(scope: Scope, file: string): Promise<Instance> {
  const readyFile = `${file}.ready`
  const child = spawn(
    process.execPath,
    ['src/main.ts', 'serve', '--config', file, '--ready-file', readyFile],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  scope.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  await until('the gateway is ready', () => existsSync(readyFile) || undefined, 30_000)
  const { url, opsUrl } = JSON.parse(readFileSync(readyFile, 'utf8')) as Pick<Instance, 'url' | 'opsUrl'>
  return { url, opsUrl, child }
}
