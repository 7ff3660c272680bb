import httpProxy from '@fastify/http-proxy'
import Fastify from 'fastify'
import type { DestinationStream } from 'pino'
import { gatehouse, type ProxyOptions } from '#library/fastify.ts'
import { until } from './net.ts'

/** The routes and upstreams of a config file, as written. */
export interface WrittenConfig {
  readonly routes: readonly (Readonly<Record<string, unknown>> & { path: string; upstream: string })[]
  readonly upstreams: Readonly<
    Record<string, { readonly targets: readonly { readonly url: string }[]; readonly health?: unknown }>
  >
}

/** A Fastify app that does what a gateway with this config file would: each route is a proxied prefix. */
export async function openApp(
  configFile: string,
  written: WrittenConfig,
  { stream, clock }: { readonly stream: DestinationStream; readonly clock: (() => number) | undefined },
): Promise<{
  readonly url: string
  readonly opsUrl: string
  readonly decideUrl: undefined
  shutDown(): Promise<boolean>
}> {
  const app = Fastify({ forceCloseConnections: true, logger: { stream } })
  await app.register(gatehouse, { config: configFile, ...(clock && { clock }) })
  for (const { path, upstream, ...route } of written.routes) {
    // An app has one target, and does not look after its health.
    const { targets = [], health: _, ...options } = written.upstreams[upstream] ?? {}
    // The cast is sound: the plugin checks the options.
    const proxy = { ...options, ...route, prefix: path, upstream: targets[0]?.url } as unknown as ProxyOptions
    await app.register(httpProxy, app.gatehouse.proxy(proxy))
  }
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  await until('the store answers', () => app.gatehouse.health() === 'ok', 3_000).catch(() => {})
  return {
    url,
    // It has no ops listener.
    opsUrl: '',
    decideUrl: undefined,
    shutDown: async () => {
      await app.close()
      return true
    },
  }
}
