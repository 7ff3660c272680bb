import type { Principal } from '../auth/principal.ts'
import type { Config, UpstreamConfig } from '../config/config.ts'
import type { RequestFields } from '../http/request-fields.ts'
import type { Client } from '../proxy/client.ts'
import { createHeaderRules } from '../proxy/header-rules.ts'
import { createIdentityWriter } from '../proxy/identity.ts'
import { createRequestWriter, type RequestBody } from '../proxy/request-head.ts'
import type { Route } from '../routes/route.ts'
import type { AskedRequest, ShownHeader } from './explanation.ts'
import { redactHeader } from './redact.ts'

export interface Passed {
  readonly request: AskedRequest
  readonly fields: RequestFields
  readonly client: Client
  readonly route: Route<UpstreamConfig>
  readonly principal: Principal | undefined
}

const ofEachRequest = '(new for each request)'

/** The headers that the upstream would get, from what writes them in the gateway. */
export function showUpstreamHead(config: Config, { request, fields, client, route, principal }: Passed) {
  const writer = createRequestWriter({
    rules: createHeaderRules(Object.values(config.identityHeaders)),
    writeIdentity: createIdentityWriter(config.identityHeaders),
    refreshCookie: config.cookie.name,
  })
  const lines = writer.writeHead({
    ...{ rawHeaders: request.rawHeaders, route, principal, client },
    requestId: (client.isTrusted && fields.requestId) || ofEachRequest,
    body: announcedBody(fields),
    connectionNames: fields.connectionNames,
    isUpgrade: route.websocket && asksForWebSocket(request),
  })
  const headers = [{ name: 'Host', value: hostFor(route.upstream, fields) }, ...parseLines(lines)]
  // A configured name may look like that of a secret; what stands there is the gateway's own word.
  const identity = new Set(Object.values(config.identityHeaders).map((name) => name?.toLowerCase()))
  return headers.map((header) => (identity.has(header.name.toLowerCase()) ? header : redactHeader(header)))
}

function hostFor({ host, targets }: UpstreamConfig, fields: RequestFields): string {
  return host === 'client' ? (fields.host ?? '') : targets.map(({ url }) => url.host).join(' or ')
}

function announcedBody({ contentLength, transferEncoding }: RequestFields): RequestBody {
  if (transferEncoding !== undefined) return { kind: 'chunked' }
  const length = Number(contentLength ?? 0)
  return length > 0 ? { kind: 'counted', length } : { kind: 'none', isEmpty: contentLength !== undefined }
}

function asksForWebSocket({ method, rawHeaders }: AskedRequest): boolean {
  const index = rawHeaders.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === 'upgrade')
  return method === 'GET' && index !== -1 && rawHeaders[index + 1]?.toLowerCase() === 'websocket'
}

function parseLines(lines: string): readonly ShownHeader[] {
  return lines
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) => {
      const colon = line.indexOf(':')
      // As an operator reads it: on the wire each byte is one character.
      const value = Buffer.from(line.slice(colon + 2), 'latin1').toString()
      return { name: line.slice(0, colon), value }
    })
}
