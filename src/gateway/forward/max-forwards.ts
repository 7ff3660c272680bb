import { isNamed, type RequestHead, valuesOf } from '#http/request-head.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'

/** The largest number that is forwarded: no proxy chain is longer. */
const forwardsMax = 999_999_999
const wellFormed = /^0*([0-9]{1,9})$/
const digits = /^[0-9]+$/

/**
 * How often an OPTIONS request may still be forwarded, this time included (RFC 9110 7.6.2): 0 makes the gateway its
 * final recipient. undefined = unlimited, as for other methods, where the field has no meaning here.
 * @throws GatehouseError `request-invalid` where the field is not a number, or was sent more than once: its value could
 *   not be checked and updated, as required
 */
export function readMaxForwards({
  method,
  rawHeaders,
}: Pick<RequestHead, 'method' | 'rawHeaders'>): number | undefined {
  if (method !== 'OPTIONS') return undefined
  const [value, repeated] = valuesOf(rawHeaders, maxForwards)
  if (value === undefined) return undefined
  if (repeated !== undefined) throw malformed('was sent more than once')
  if (!digits.test(value)) throw malformed('is not a number')
  const number = wellFormed.exec(value)?.[1]
  return number === undefined ? forwardsMax : Number(number)
}

/**
 * The fields with Max-Forwards decremented.
 * @param remaining what readMaxForwards returned, at least 1
 */
export function withMaxForwards(rawHeaders: readonly string[], remaining: number): readonly string[] {
  const index = rawHeaders.findIndex((name, at) => at % 2 === 0 && isNamed(name, maxForwards))
  return index === -1 ? rawHeaders : rawHeaders.with(index + 1, String(remaining - 1))
}

const maxForwards = 'max-forwards'

function malformed(message: string): GatehouseError {
  return new GatehouseError('request-invalid', {
    detail: 'Max-Forwards must be one number.',
    errors: [{ field: 'Max-Forwards', message }],
  })
}
