import type { Test } from 'tap'
import { startGateway, type TestGateway, type TestGatewayOptions } from '../../setup/gateway.ts'
import { type RawResponse, rawRequest } from '../../setup/raw-client.ts'

/** A gateway that proxies on this machine may ask. */
export function startDecideGateway(t: Test, options: TestGatewayOptions = {}): Promise<TestGateway> {
  return startGateway(t, {
    ...options,
    config: { decide: { port: 0 }, trustedProxies: ['127.0.0.1'], ...options.config },
  })
}

/** A request as a proxy describes it, and what else it sends. */
export interface Asked {
  readonly method?: string
  readonly uri?: string
  readonly host?: string
  /** Header lines of the client. */
  readonly headers?: readonly string[]
  /** Of the listener, with its query. */
  readonly path?: string
}

/** The lines by which a proxy describes a request. */
export function describing({ method = 'GET', uri = '/', host = 'gateway.test' }: Asked): readonly string[] {
  return [
    `X-Forwarded-Method: ${method}`,
    'X-Forwarded-Proto: https',
    `X-Forwarded-Host: ${host}`,
    `X-Forwarded-Uri: ${uri}`,
    'X-Forwarded-For: 203.0.113.7',
  ]
}

/** Asks for a decision, as a proxy would, on a connection of its own. */
export function askDecision(
  t: Test,
  gateway: Pick<TestGateway, 'decideUrl'>,
  asked: Asked,
): Promise<RawResponse> {
  const { path = '/decide', headers = [] } = asked
  return askWith(t, gateway, [...describing(asked), ...headers], path)
}

/** The same with just these header lines. */
export function askWith(
  t: Test,
  { decideUrl }: Pick<TestGateway, 'decideUrl'>,
  headers: readonly string[],
  path = '/decide',
): Promise<RawResponse> {
  const { host } = new URL(decideUrl)
  return rawRequest(t, decideUrl, [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...headers])
}
