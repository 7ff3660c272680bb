/** Entry point `@gatehouse-proxy/gateway/fastify`. */
export type { AppConfigOptions } from '#config/load-app-config.ts'
export { type Gatehouse, type GatehouseOptions, gatehouse, gatehouse as default } from './fastify/plugin.ts'
export type { HttpProxyOptions } from './fastify/proxy/proxies.ts'
export type { ProxyOptions } from './fastify/proxy/proxy-options.ts'
export type { Caller, CallerProfile, RateLimitOptions, RequireOptions } from './fastify/require.ts'
