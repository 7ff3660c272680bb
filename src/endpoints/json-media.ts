import type { FastifyRequest } from 'fastify'
import { GatehouseError } from '../errors/gatehouse-error.ts'

const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset=(?:"utf-8"|utf-8)[ \t]*)?;?$/i

/**
 * Why a body is refused because of its head alone; undefined where it is not.
 * @returns `request-invalid` for types that contradict each other, `media-type-unsupported` for anything but JSON
 */
export function checkMediaType({ headers, raw }: FastifyRequest): GatehouseError | undefined {
  const types = valuesOf(raw.rawHeaders, 'content-type')
  if (types.size > 1) {
    const errors = [{ field: 'Content-Type', message: 'was sent more than once, with different values' }]
    return new GatehouseError('request-invalid', { detail: 'There must be one Content-Type.', errors })
  }
  const [type] = types
  const isJson = type !== undefined && jsonType.test(type)
  return isJson && headers['content-encoding'] === undefined
    ? undefined
    : new GatehouseError('media-type-unsupported')
}

/** All raw values of a header: for some headers Node shows only the first. */
function valuesOf(rawHeaders: readonly string[], name: string): ReadonlySet<string> {
  const values = rawHeaders.filter(
    (_, index) => rawHeaders[index - 1]?.toLowerCase() === name && index % 2 === 1,
  )
  return new Set(values.map((value) => value.trim()))
}
