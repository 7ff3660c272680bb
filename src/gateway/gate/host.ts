import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { memoizeBounded } from '#platform/memoize.ts'
import { copyString } from '#platform/text.ts'
import { hasNameLengths, hostLengthMax } from '../routes/host-name.ts'
import type { RequestFields } from './request-fields.ts'

// RFC 9110 7.2, RFC 3986 3.2.2: a name or an address, and an optional port.
const hostPattern =
  /^((?:\[[0-9A-Fa-f:.]+\])|(?:[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})+)(?::[0-9]{0,5})?$/

/** Together no more than 0.2 MiB. */
const memoizeBounds = { entriesMax: 256, keyLengthMax: hostLengthMax }

/** The name in a Host header, in lower case and without the port; undefined where it is malformed. */
export const parseHost = memoizeBounded(memoizeBounds, (host) => {
  const name = host.length > hostLengthMax ? undefined : hostPattern.exec(host)?.[1]?.toLowerCase()
  return name !== undefined && hasNameLengths(name) ? copyString(name) : undefined
})

/** In lower case, without port. @throws GatehouseError `request-invalid` */
export function parseHostName({ host, uncommon }: Pick<RequestFields, 'host' | 'uncommon'>): string {
  const { isHostRepeated } = uncommon
  const hostName = host === undefined || isHostRepeated ? undefined : parseHost(host)
  if (hostName === undefined) throw hostError(host, isHostRepeated)
  return hostName
}

/** For a name that a trusted proxy says, and no host can have. */
export function forwardedHostError(): GatehouseError {
  return invalidField('X-Forwarded-Host', 'is not well-formed')
}

/** For a name that servers read differently, where one reading has routes of its own. */
export function ambiguousHostError(): GatehouseError {
  return new GatehouseError('request-invalid', {
    detail: 'The Host header has a name that servers read differently.',
    errors: [{ field: 'Host', message: 'must have no dot at its end, and no escapes' }],
  })
}

function hostError(host: string | undefined, isRepeated: boolean): GatehouseError {
  const message =
    host === undefined ? 'is missing' : isRepeated ? 'was sent more than once' : 'is not well-formed'
  return new GatehouseError('request-invalid', {
    detail: 'There must be exactly one well-formed Host header.',
    errors: [{ field: 'Host', message }],
  })
}
