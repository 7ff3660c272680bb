import type { Principal } from '../auth/principal.ts'
import type { Config } from '../config/config.ts'
import { trustedRequestId } from '../http/arrival.ts'
import type { RequestFields } from '../http/request-fields.ts'
import { isWebSocketUpgrade } from '../http/upgrade.ts'
import type { RequestHead } from '../http1/request-head.ts'
import type { Client } from '../proxy/client.ts'
import { createHeaderRules } from '../proxy/header-rules.ts'
import { createIdentityWriter } from '../proxy/identity-headers.ts'
import { createRequestWriter, isLastOnConnection } from '../proxy/request-head.ts'
import type { Route } from '../routes/route.ts'
import { createTracer } from '../tracing/tracer.ts'
import type { UpstreamConfig } from '../upstream/upstream.ts'
import type { ShownHeader } from './explanation.ts'
import { redactHeader } from './redact.ts'

export interface ForwardedRequest {
  readonly head: RequestHead
  readonly fields: RequestFields
  readonly client: Client
  readonly route: Route<UpstreamConfig>
  readonly principal: Principal | undefined
}

const perRequestValue = '(new for each request)'

/** The headers that the upstream would receive, built by the same code as in the gateway. */
export function showUpstreamHead(
  config: Config,
  { head, fields, client, route, principal }: ForwardedRequest,
) {
  const { enabled, header, lifetimeMs } = config.assertion
  const ownNames = [...Object.values(config.identityHeaders), header]
  const assertionPlaceholder = {
    header,
    of: (_: Principal, upstream: string) =>
      `(signed by the gateway for ${upstream}, ${lifetimeMs / 1_000} s)`,
  }
  const writer = createRequestWriter({
    rules: createHeaderRules(ownNames),
    writeIdentity: createIdentityWriter(config.identityHeaders),
    assertion: enabled ? assertionPlaceholder : undefined,
    refreshCookie: config.cookie.name,
  })
  const trace = config.tracing && createTracer(config.tracing.sampleRatio).startTrace(head.rawHeaders)
  const lines = writer.writeHead({
    rawHeaders: trace?.rawHeaders ?? head.rawHeaders,
    route,
    principal,
    client,
    isCachedHead: head.isCachedHead,
    requestId: trustedRequestId(fields, client.isTrusted) ?? perRequestValue,
    body: head.body,
    connectionOptions: fields.connectionOptions,
    isUpgrade: route.websocket && isWebSocketUpgrade(head),
    isLast: isLastOnConnection(head, route),
    minorVersion: head.minorVersion,
  })
  const headers = [{ name: 'Host', value: hostFor(route.upstream, fields) }, ...parseLines(lines)]
  // A configured name may look like that of a secret, but the value is the gateway's own.
  const identity = new Set(ownNames.map((name) => name.toLowerCase()))
  return headers.map((header) => {
    if (identity.has(header.name.toLowerCase())) return header
    const isGenerated = trace !== undefined && header.value.includes(trace.upstreamSpanId)
    return isGenerated ? { ...header, value: perRequestValue } : redactHeader(header)
  })
}

function hostFor({ host, targets }: UpstreamConfig, fields: RequestFields): string {
  return host === 'client' ? (fields.host ?? '') : targets.map(({ url }) => url.host).join(' or ')
}

function parseLines(lines: string): readonly ShownHeader[] {
  return lines
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) => {
      const colon = line.indexOf(':')
      // Decoded for the operator: on the wire each byte is one character.
      const value = Buffer.from(line.slice(colon + 2), 'latin1').toString()
      return { name: line.slice(0, colon), value }
    })
}
