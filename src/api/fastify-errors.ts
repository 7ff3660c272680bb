import type { FastifyError } from 'fastify'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { toRequestInvalid } from './validate.ts'

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
