import type { Config } from '../config/config.ts'
import { GatehouseError } from '../errors.ts'
import { ownMethods } from '../http/api.ts'
import { parseHost } from '../http/host.ts'
import { type RequestFields, readRequestFields } from '../http/request-fields.ts'
import { type Client, createTrustedProxies, plainAddress, readClient } from '../proxy/client.ts'
import { parseTarget, type Target } from '../routes/target.ts'
import type { AskedRequest } from './explanation.ts'
import { redactTarget } from './redact.ts'
import type { Trail } from './trail.ts'

/** A request that was read, before anything is decided. */
export interface Arrived {
  readonly request: AskedRequest
  readonly fields: RequestFields
  readonly client: Client
  readonly target: Target
  readonly hostName: string
}

/** @throws GatehouseError `path-ambiguous`, `request-invalid`, `method-not-allowed` */
export function arrive(request: AskedRequest, config: Config, trail: Trail): Arrived {
  trail.begin('request')
  const fields = readRequestFields(request.rawHeaders)
  const { host, isHostRepeated } = fields
  const client = readClient(
    {
      ...fields,
      peer: plainAddress(request.peer),
      protocol: config.listen.tls ? 'https' : 'http',
      host: host ?? '',
    },
    createTrustedProxies(config.trustedProxies),
  )
  if (request.method === 'CONNECT') throw new GatehouseError('method-not-allowed', { allow: [] })
  const target = parseTarget(request.target)
  if (!target) throw new GatehouseError('path-ambiguous')
  const hostName = host === undefined || isHostRepeated ? undefined : parseHost(host)
  if (hostName === undefined) {
    throw new GatehouseError('request-invalid', {
      detail: 'There must be exactly one well-formed Host header.',
    })
  }
  const path = redactTarget(target.path)
  const via = client.isTrusted ? `, by the word of the trusted proxy ${request.peer}` : ''
  trail.pass('request', {
    detail: `path ${path}, host ${hostName}, from ${client.address}${via}`,
    facts: { path, host: hostName, client: client.address, isTrustedProxy: client.isTrusted },
  })
  return { request, fields, client, target, hostName }
}

/** Whether the path is the gateway's own, which wins over any route. */
export function isForGateway({ request, target }: Arrived, trail: Trail): boolean {
  trail.begin('route')
  const methods = ownMethods.get(target.path)
  if (methods === undefined) {
    if (request.method === 'TRACE') throw new GatehouseError('method-not-allowed', { allow: [] })
    return false
  }
  trail.enter('_gateway')
  if (!methods.includes(request.method)) throw new GatehouseError('method-not-allowed', { allow: methods })
  trail.pass('route', {
    detail: 'the path belongs to the gateway itself, which answers by what the body says',
    facts: { methods },
  })
  return true
}
