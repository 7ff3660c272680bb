import type { HealthOptions } from '#http/client/health.ts'
import type { UpstreamConfig } from '#http/client/upstream.ts'
import { createUpstreamHeaders, type UpstreamHeaders } from '#http/client/upstream-headers.ts'
import type { ConfigTree } from './schema/schema.ts'
import { resolveTls, type SecretLookup } from './secrets.ts'
import { durationMs } from './units.ts'

/** An upstream as the program uses it. */
export function resolveUpstream(
  name: string,
  upstream: ConfigTree['upstreams'][string],
  lookup: SecretLookup,
): UpstreamConfig {
  return {
    name,
    targets: upstream.targets.map(({ url, weight }) => ({ url: new URL(url), weight })),
    balancing: upstream.balancing,
    health: resolveHealth(upstream.health),
    connectTimeoutMs: durationMs(upstream.timeouts.connect),
    responseTimeoutMs: durationMs(upstream.timeouts.response),
    idleTimeoutMs: durationMs(upstream.timeouts.idle),
    retryAttempts: upstream.retries.attempts,
    connectionsMax: upstream.connections,
    protocol: upstream.protocol,
    headers: resolveHeaders(upstream.headers, lookup),
    host: upstream.host,
    tls: resolveTls(upstream.tls, lookup),
  }
}

function resolveHeaders(
  { set, remove }: ConfigTree['upstreams'][string]['headers'],
  lookup: SecretLookup,
): UpstreamHeaders | undefined {
  const fields = Object.entries(set).map(([name, value]) =>
    typeof value === 'string'
      ? { name, value, isSecret: false }
      : { name, value: lookup.secret(value), isSecret: true },
  )
  return createUpstreamHeaders(fields, remove)
}

function resolveHealth({ active, passive }: ConfigTree['upstreams'][string]['health']): HealthOptions {
  return {
    active: active && {
      // A rule demands one of the two.
      ...(active.grpc ? { grpcService: active.grpc.service } : { path: active.path ?? '/' }),
      intervalMs: durationMs(active.interval),
      timeoutMs: durationMs(active.timeout),
      unhealthyAfter: active.unhealthyAfter,
      healthyAfter: active.healthyAfter,
    },
    passive: passive && {
      maxFailures: passive.maxFailures,
      windowMs: durationMs(passive.window),
      ejectForMs: durationMs(passive.ejectFor),
    },
  }
}
