import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifyError, FastifyInstance } from 'fastify'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { type FieldError, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { isRecord } from '#platform/json.ts'
import { hideSecrets } from '#platform/secrets/hide-secrets.ts'

const sharedOptions = {
  allErrors: true,
  strict: true,
  strictTypes: false,
  strictRequired: false,
  useDefaults: true,
} as const

/** An option of `Fastify()`, which would otherwise load compilers of its own that nothing here uses. */
export const schemaController = {
  compilersFactory: { buildValidator: refuseToCompile, buildSerializer: refuseToCompile },
}

function refuseToCompile(): never {
  throw new Error('schemas are only for scopes of validateWithSchemas, and none are for responses')
}

/** Validates requests against the schemas of their operations: bodies strictly, queries after type coercion. */
export function validateWithSchemas(app: FastifyInstance): void {
  const body = new Ajv(sharedOptions)
  const query = new Ajv({ ...sharedOptions, coerceTypes: true })
  app.setValidatorCompiler(({ schema, httpPart }) =>
    compileLazily(httpPart === 'body' ? body : query, schema),
  )
}

/** More than any operation has. Without it, each unknown member would add an error to the response. */
const membersMax = 100
const tooManyMembers: ErrorObject = {
  keyword: 'maxProperties',
  instancePath: '',
  schemaPath: '',
  params: { limit: membersMax },
}

interface LazyValidator {
  (data: unknown): boolean
  errors?: ErrorObject[] | null
}

/** Compiles a schema on its first use: compiling all of them would slow down the start. */
function compileLazily(ajv: Ajv, schema: AnySchema): LazyValidator {
  let compiled: ValidateFunction | undefined
  const check: LazyValidator = (data) => {
    if (isRecord(data) && Object.keys(data).length > membersMax) {
      check.errors = [tooManyMembers]
      return false
    }
    compiled ??= ajv.compile(schema)
    const isValid = compiled(data)
    check.errors = compiled.errors ?? null
    return isValid
  }
  return check
}

/** Details for errors of the whole body or query, which belong to no field. */
const bodyErrorDetails: ReadonlyMap<string, string> = new Map([
  ['type', 'The body must be a JSON object.'],
  ['minProperties', 'The body must have at least one member.'],
  ['maxProperties', `There must be at most ${membersMax} members or parameters.`],
])

/**
 * @param errors the errors of Ajv, as passed by Fastify
 * @param findOthers finds further errors, in members that match their schemas: all but the wrong ones
 */
export function toRequestInvalid(
  errors: readonly unknown[],
  findOthers?: (wrong: ReadonlySet<string>) => readonly FieldError[],
): GatehouseError {
  // The cast is sound: only Ajv checks schemas here.
  const found = errors as readonly ErrorObject[]
  for (const { instancePath, keyword } of found) {
    const detail = instancePath === '' ? bodyErrorDetails.get(keyword) : undefined
    if (detail !== undefined) return new GatehouseError('request-invalid', { detail })
  }
  const fields = toFieldErrors(found)
  const wrong = new Set(fields.map(({ field }) => field.split('.')[0] ?? ''))
  const all = [...fields, ...(findOthers?.(wrong) ?? [])]
  return new GatehouseError('request-invalid', { errors: all.slice(0, errorsMax) })
}

/** Maximum number of errors in one response. */
const errorsMax = 100

/** Checks a value that does not come from a request, such as the file of a command. Fills in defaults. */
export function findSchemaErrors(schema: AnySchema, value: unknown): readonly FieldError[] {
  const validate = new Ajv(sharedOptions).compile(schema)
  return validate(value) ? [] : toFieldErrors(validate.errors ?? [])
}

/** Turns the errors of Ajv into one error per field. */
function toFieldErrors(errors: readonly ErrorObject[]): readonly FieldError[] {
  return errors.map(({ instancePath, keyword, params, message }) => {
    const path = instancePath.split('/').slice(1)
    if (keyword === 'required')
      return { field: fieldNameOf([...path, params.missingProperty]), message: 'is missing' }
    if (keyword === 'additionalProperties') {
      return { field: fieldNameOf([...path, params.additionalProperty]), message: 'is unknown' }
    }
    if (keyword === 'enum') {
      return { field: fieldNameOf(path), message: `must be one of ${params.allowedValues.join(', ')}` }
    }
    return { field: fieldNameOf(path), message: message ?? 'is not valid' }
  })
}

/** How much of a name is searched for secrets, and how much of it is shown. */
const nameLengthMax = { searched: 1_024, shown: 200 }

/** The path of a member; each name in it comes from the body, and may be a secret key. */
function fieldNameOf(parts: readonly unknown[]): string {
  const name = parts.map(String).join('.').slice(0, nameLengthMax.searched)
  return hideSecrets(name).slice(0, nameLengthMax.shown)
}

const codes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body-too-large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'media-type-unsupported',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'request-invalid',
}

/** Turns Fastify's own errors into ours. */
export function translateError(error: FastifyError | GatehouseError): GatehouseError {
  if (error instanceof GatehouseError) return error
  if (error.validation) return toRequestInvalid(error.validation)
  return new GatehouseError(codes[error.code] ?? 'internal', { cause: error })
}
