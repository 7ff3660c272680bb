/** Entry point `@gatehouse-proxy/gateway/client`. */
export { type ClientOptions, createClient, type GatehouseClient } from './client/client.ts'
export { ClientError } from './client/tokens.ts'
