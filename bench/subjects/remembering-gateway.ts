import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../test/setup/net.ts'
import { cores, startProgram } from '../processes.ts'
import type { Scope } from '../scope.ts'
import { serveCommand } from './built-program.ts'

/** A gateway with the default limits, behind a trusted proxy: the load sends the addresses of clients. */

/** The key that signs its tokens, which the load knows too. */
export const tokenSigner = {
  signingKey: 'a secret of the bench, which signs its tokens',
  kid: 'bench',
  issuer: 'http://localhost:8080',
} as const

/** @returns the path of the config */
export function writeConfig(folder: string, upstreamUrl: string): string {
  const file = join(folder, 'gateway.yaml')
  writeFileSync(join(folder, 'sealing.key'), Buffer.alloc(32, 7).toString('base64'))
  writeFileSync(join(folder, 'signing.key'), tokenSigner.signingKey)
  const config = {
    publicUrl: tokenSigner.issuer,
    listen: { port: 0 },
    ops: { port: 0 },
    trustedProxies: ['127.0.0.1'],
    upstreams: { backend: { targets: [{ url: upstreamUrl }], connections: 10_000 } },
    routes: [
      { name: 'any', path: '/any', auth: 'any', upstream: 'backend' },
      {
        name: 'rated',
        path: '/rated',
        auth: 'none',
        upstream: 'backend',
        rateLimit: { limit: 10, per: '1h', by: 'ip' },
      },
    ],
    keys: { sealingKey: { file: 'sealing.key' } },
    tokens: {
      algorithm: 'HS256',
      accessLifetime: '24h',
      keys: [{ kid: tokenSigner.kid, private: { file: 'signing.key' }, use: 'sign' }],
    },
    store: { sqlite: { path: 'gatehouse.db' } },
    log: { level: 'warn', access: false },
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

interface StartOptions {
  readonly folder: string
  readonly checkout: string
  readonly config: string
}

interface RememberingGateway {
  readonly pid: number
  readonly url: string
  readonly opsUrl: string
}

export async function startRememberingGateway(
  scope: Scope,
  { folder, checkout, config }: StartOptions,
): Promise<RememberingGateway> {
  const readyFile = join(folder, 'ready')
  const { pid } = startProgram(scope, {
    core: cores.subject,
    cwd: checkout,
    command: serveCommand(checkout, config, readyFile),
  })
  await until('the gateway is ready', () => existsSync(readyFile) || undefined, 30_000)
  // The cast is sound: the gateway has written it.
  const { url, opsUrl } = JSON.parse(readFileSync(readyFile, 'utf8')) as Omit<RememberingGateway, 'pid'>
  return { pid, url, opsUrl }
}

/** What V8 says of its memory, in bytes. */
export async function readHeap(opsUrl: string) {
  const text = await (await fetch(`${opsUrl}/metrics`)).text()
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  return {
    total: read('nodejs_heap_size_total_bytes'),
    used: read('nodejs_heap_size_used_bytes'),
    external: read('nodejs_external_memory_bytes'),
  }
}
