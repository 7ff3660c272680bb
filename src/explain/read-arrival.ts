import type { Config } from '../config/config.ts'
import { parseDestination } from '../http/choose-scope.ts'
import { type RequestFields, readRequestFields } from '../http/request-fields.ts'
import { malformedError } from '../http/unreadable.ts'
import { MalformedMessage } from '../http1/malformed-message.ts'
import { readRequestFraming } from '../http1/request-framing.ts'
import type { RequestHead } from '../http1/request-head.ts'
import { unmappedAddress } from '../platform/unmapped-address.ts'
import { type Client, createTrustedProxies, readClient } from '../proxy/client.ts'
import type { RequestTarget } from '../routes/request-target.ts'
import type { DecisionTrace } from './decision-trace.ts'
import type { ExplainedRequest } from './explanation.ts'
import { redactTarget } from './redact.ts'

/** A request that has been read, before any decision. */
export interface ExplainedArrival {
  readonly request: ExplainedRequest
  readonly head: RequestHead
  readonly fields: RequestFields
  readonly client: Client
  readonly target: RequestTarget
  readonly hostName: string
}

/** @throws GatehouseError `path-ambiguous`, `request-invalid` */
export function readArrival(
  request: ExplainedRequest,
  config: Config,
  trace: DecisionTrace,
): ExplainedArrival {
  trace.beginStep('request')
  const head = readHead(request)
  const fields = readRequestFields(request.rawHeaders)
  const client = readClient(
    {
      ...fields,
      peer: unmappedAddress(request.peer),
      protocol: config.listen.tls ? 'https' : 'http',
      host: fields.host ?? '',
    },
    createTrustedProxies(config.trustedProxies),
  )
  const { target, hostName } = parseDestination(head.target, fields)
  const path = redactTarget(target.path)
  const via = client.isTrusted ? `, according to the trusted proxy ${request.peer}` : ''
  trace.passStep('request', {
    detail: `path ${path}, host ${hostName}, from ${client.address}${via}`,
    facts: { path, host: hostName, client: client.address, isTrustedProxy: client.isTrusted },
  })
  return { request, head, fields, client, target, hostName }
}

/** The head as the gateway would read it: HTTP/1.1, framed by its headers. */
function readHead({ method, target, rawHeaders }: ExplainedRequest): RequestHead {
  try {
    return {
      method,
      target,
      minorVersion: 1,
      rawHeaders,
      ...readRequestFraming(rawHeaders, 1),
      isCachedHead: false,
    }
  } catch (error) {
    if (error instanceof MalformedMessage) throw malformedError(error)
    throw error
  }
}
