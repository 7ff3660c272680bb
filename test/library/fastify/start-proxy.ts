import httpProxy from '@fastify/http-proxy'
import type { Test } from 'tap'
import type { ProxyOptions } from '#library/fastify.ts'
import { startApp, type TestApp, type TestAppOptions } from './start-app.ts'

/** An app that forwards some prefixes, by http-proxy with the options of the plugin. */
export async function startProxy(
  t: Test,
  proxies: readonly ProxyOptions[],
  options: Partial<TestAppOptions> = {},
): Promise<TestApp> {
  return startApp(t, {
    ...options,
    routes: async (app) => {
      await options.routes?.(app)
      for (const proxy of proxies) await app.register(httpProxy, app.gatehouse.proxy(proxy))
    },
  })
}
