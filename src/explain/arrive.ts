import type { Config } from '../config/config.ts'
import { parseDestination } from '../http/arrival.ts'
import { type RequestFields, readRequestFields } from '../http/request-fields.ts'
import { malformedError } from '../http/unreadable.ts'
import { type Client, createTrustedProxies, readClient } from '../proxy/client.ts'
import type { Target } from '../routes/target.ts'
import { plainAddress } from '../wire/address.ts'
import { readFraming } from '../wire/framing.ts'
import { MalformedMessage } from '../wire/malformed.ts'
import type { RequestHead } from '../wire/request-head.ts'
import type { AskedRequest } from './explanation.ts'
import { redactTarget } from './redact.ts'
import type { Trail } from './trail.ts'

/** A request that has been read, before anything is decided. */
export interface Arrived {
  readonly request: AskedRequest
  readonly head: RequestHead
  readonly fields: RequestFields
  readonly client: Client
  readonly target: Target
  readonly hostName: string
}

/** @throws GatehouseError `path-ambiguous`, `request-invalid` */
export function arrive(request: AskedRequest, config: Config, trail: Trail): Arrived {
  trail.begin('request')
  const head = headOf(request)
  const fields = readRequestFields(request.rawHeaders)
  const client = readClient(
    {
      ...fields,
      peer: plainAddress(request.peer),
      protocol: config.listen.tls ? 'https' : 'http',
      host: fields.host ?? '',
    },
    createTrustedProxies(config.trustedProxies),
  )
  const { target, hostName } = parseDestination(head.target, fields)
  const path = redactTarget(target.path)
  const via = client.isTrusted ? `, according to the trusted proxy ${request.peer}` : ''
  trail.pass('request', {
    detail: `path ${path}, host ${hostName}, from ${client.address}${via}`,
    facts: { path, host: hostName, client: client.address, isTrustedProxy: client.isTrusted },
  })
  return { request, head, fields, client, target, hostName }
}

/** The head as the gateway would read it: HTTP/1.1, framed by its headers. */
function headOf({ method, target, rawHeaders }: AskedRequest): RequestHead {
  try {
    return { method, target, minorVersion: 1, rawHeaders, ...readFraming(rawHeaders, 1), isFamiliar: false }
  } catch (error) {
    if (error instanceof MalformedMessage) throw malformedError(error)
    throw error
  }
}
