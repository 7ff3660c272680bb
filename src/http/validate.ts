import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifyInstance } from 'fastify'
import { type FieldError, GatehouseError } from '../errors.ts'
import { hideSecrets } from '../log/hide-secrets.ts'

const common = {
  allErrors: true,
  strict: true,
  strictTypes: false,
  strictRequired: false,
  useDefaults: true,
} as const

/** Checks requests against their operations' schemas: bodies strictly, queries after converting their texts. */
export function acceptDescribedOnly(app: FastifyInstance): void {
  const body = new Ajv(common)
  const query = new Ajv({ ...common, coerceTypes: true })
  app.setValidatorCompiler(({ schema, httpPart }) => compileLater(httpPart === 'body' ? body : query, schema))
}

interface Check {
  (data: unknown): boolean
  errors?: ErrorObject[] | null
}

/** Compiles a schema with the first request for it: a start should not have to compile all of them. */
function compileLater(ajv: Ajv, schema: AnySchema): Check {
  let compiled: ValidateFunction | undefined
  const check: Check = (data) => {
    compiled ??= ajv.compile(schema)
    const isValid = compiled(data)
    check.errors = compiled.errors ?? null
    return isValid
  }
  return check
}

/** Details for errors of the whole body, which belong to no field. */
const complaints: ReadonlyMap<string, string> = new Map([
  ['type', 'The body must be a JSON object.'],
  ['minProperties', 'The body must have at least one member.'],
])

/** @param errors what Ajv found, as Fastify hands it on */
export function toRequestInvalid(errors: readonly unknown[]): GatehouseError {
  // The cast is sound: only Ajv checks schemas here.
  const found = errors as readonly ErrorObject[]
  for (const { instancePath, keyword } of found) {
    const detail = instancePath === '' ? complaints.get(keyword) : undefined
    if (detail !== undefined) return new GatehouseError('request-invalid', { detail })
  }
  return new GatehouseError('request-invalid', { errors: toFieldErrors(found) })
}

/** Turns what Ajv found into one error a field. */
function toFieldErrors(errors: readonly ErrorObject[]): readonly FieldError[] {
  return errors.map(({ instancePath, keyword, params, message }) => {
    const place = instancePath.split('/').slice(1)
    if (keyword === 'required')
      return { field: nameOf([...place, params.missingProperty]), message: 'is missing' }
    if (keyword === 'additionalProperties') {
      return { field: nameOf([...place, params.additionalProperty]), message: 'is unknown' }
    }
    if (keyword === 'enum') {
      return { field: nameOf(place), message: `must be one of ${params.allowedValues.join(', ')}` }
    }
    return { field: nameOf(place), message: message ?? 'is not valid' }
  })
}

/** A name in the body may turn out to be a secret key. */
function nameOf(parts: readonly unknown[]): string {
  return hideSecrets(parts.map(String).join('.'))
}
