import type { Test } from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { type RedisServer, startRedis } from '../setup/redis.ts'

export interface Instances {
  readonly redis: RedisServer
  readonly gateways: readonly [TestGateway, TestGateway]
}

/** Two gateways on one Redis: what is done at the first must show at the second. */
export async function startInstances(t: Test, options: TestGatewayOptions = {}): Promise<Instances> {
  const redis = await startRedis(t)
  const backend = options.backend ?? (await startBackend(t)).url
  const start = () => startGateway(t, { ...options, backend, driver: 'redis', redis })
  return { redis, gateways: [await start(), await start()] }
}

/** Status of a request with these headers, and the code where it was refused. */
export async function wordOf(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const response = await fetch(url, { headers })
  if (response.status < 400) return String(response.status)
  const { code } = (await response.json()) as { readonly code: string }
  return `${response.status} ${code}`
}

/** A busy machine may take the store for gone: that it cannot be decided now is no refusal. */
export function decidedWordOf(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  return until('it is decided', async () => {
    const word = await wordOf(url, headers)
    return word === '503 store-unavailable' ? undefined : word
  })
}
