import type { Test } from 'tap'
import { startGateway, type TestGateway, type TestGatewayOptions } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { connectRaw, type RawClient } from '../../setup/raw-client.ts'

type Options = Readonly<Record<string, unknown>>

interface ProxyOptions extends Pick<TestGatewayOptions, 'redis'> {
  /** Laid over the one route, which is public and takes bodies of any length. */
  readonly route?: Options
  /** Laid over the one upstream. */
  readonly upstream?: Options
  /** Laid over the whole config. */
  readonly config?: Options
}

/** A gateway with a single public route, so that only forwarding is looked at. */
export function startProxy(t: Test, backend: string, options: ProxyOptions = {}): Promise<TestGateway> {
  const { route, upstream, config, redis } = options
  return startGateway(t, {
    ...(redis && { redis }),
    config: {
      upstreams: { backend: { targets: [{ url: backend }], ...upstream } },
      routes: [{ name: 'all', path: '/', upstream: 'backend', auth: 'none', maxBody: 'unlimited', ...route }],
      ...config,
    },
  })
}

/** A client that is connected to a gateway with a single public route. */
export async function connectProxy(t: Test, backend: string, options: ProxyOptions = {}): Promise<RawClient> {
  const { url } = await startProxy(t, backend, options)
  return connectRaw(t, url)
}

/** The head of a request, of lines. */
export function headOf(requestLine: string, ...lines: readonly string[]): string {
  return `${[requestLine, 'Host: gateway.example', ...lines].join('\r\n')}\r\n\r\n`
}

/** How many requests the gateway says it is serving now. */
export async function countInFlight({ opsUrl }: TestGateway): Promise<number> {
  const metrics = await (await fetch(`${opsUrl}/metrics`)).text()
  return Number(/^gatehouse_http_requests_in_flight (\d+)$/m.exec(metrics)?.[1])
}

/** Waits until the gateway is serving so many requests. */
export async function untilInFlight(gateway: TestGateway, count: number): Promise<void> {
  await until(`${count} are in flight`, async () => (await countInFlight(gateway)) === count)
}
