import type { Principal } from '../auth/principal.ts'
import type { Config } from '../config/config.ts'
import { believedRequestId } from '../http/arrival.ts'
import type { RequestFields } from '../http/request-fields.ts'
import { asksForWebSocket } from '../http/upgrade.ts'
import type { Client } from '../proxy/client.ts'
import { createHeaderRules } from '../proxy/header-rules.ts'
import { createIdentityWriter } from '../proxy/identity.ts'
import { createRequestWriter, isLastOnItsConnection } from '../proxy/request-head.ts'
import type { Route } from '../routes/route.ts'
import { createTracer } from '../tracing/tracer.ts'
import type { UpstreamTerms } from '../upstream/upstream.ts'
import type { RequestHead } from '../wire/request-head.ts'
import type { ShownHeader } from './explanation.ts'
import { redactHeader } from './redact.ts'

export interface Passed {
  readonly head: RequestHead
  readonly fields: RequestFields
  readonly client: Client
  readonly route: Route<UpstreamTerms>
  readonly principal: Principal | undefined
}

const ofEachRequest = '(new for each request)'

/** The headers that the upstream would get, written by the same code as in the gateway. */
export function showUpstreamHead(config: Config, { head, fields, client, route, principal }: Passed) {
  const { enabled, header, lifetimeMs } = config.assertion
  const ownNames = [...Object.values(config.identityHeaders), header]
  const toldAssertion = {
    header,
    of: (_: Principal, upstream: string) =>
      `(signed by the gateway for ${upstream}, ${lifetimeMs / 1_000} s)`,
  }
  const writer = createRequestWriter({
    rules: createHeaderRules(ownNames),
    writeIdentity: createIdentityWriter(config.identityHeaders),
    assertion: enabled ? toldAssertion : undefined,
    refreshCookie: config.cookie.name,
  })
  const trace = config.tracing && createTracer(config.tracing.sampleRatio).begin(head.rawHeaders)
  const lines = writer.writeHead({
    rawHeaders: trace?.rawHeaders ?? head.rawHeaders,
    route,
    principal,
    client,
    isFamiliar: head.isFamiliar,
    requestId: believedRequestId(fields, client.isTrusted) ?? ofEachRequest,
    body: head.body,
    connectionNames: fields.connectionNames,
    isUpgrade: route.websocket && asksForWebSocket(head),
    isLast: isLastOnItsConnection(head, route),
    minorVersion: head.minorVersion,
  })
  const headers = [{ name: 'Host', value: hostFor(route.upstream, fields) }, ...parseLines(lines)]
  // A configured name may look like that of a secret, but the value is the gateway's own.
  const identity = new Set(ownNames.map((name) => name.toLowerCase()))
  return headers.map((header) => {
    if (identity.has(header.name.toLowerCase())) return header
    const isMade = trace !== undefined && header.value.includes(trace.upstreamSpanId)
    return isMade ? { ...header, value: ofEachRequest } : redactHeader(header)
  })
}

function hostFor({ host, targets }: UpstreamTerms, fields: RequestFields): string {
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
