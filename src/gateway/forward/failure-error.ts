import type { FailureReason, UpstreamFailure } from '#http/client/failure.ts'
import { type MissingShare, NoConnection } from '#http/upstream/pool/share.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'

/** The error that the client gets for a failed exchange: neither the address of the target nor the cause. */
export function failureError(failure: UpstreamFailure): GatehouseError {
  const detail = failure instanceof NoConnection ? shareDetails[failure.share] : undefined
  return new GatehouseError(codes[failure.reason], {
    cause: failure,
    ...(detail !== undefined && { detail }),
  })
}

const codes = {
  'connect-failed': 'upstream-unreachable',
  'connect-timeout': 'upstream-timeout',
  'no-resources': 'upstream-unavailable',
  'no-target': 'upstream-unavailable',
  'no-connection': 'upstream-unavailable',
  'response-timeout': 'upstream-timeout',
  'idle-timeout': 'upstream-timeout',
  'response-stalled': 'request-timeout',
  'body-stalled': 'request-timeout',
  'not-processed': 'upstream-unreachable',
  'closed-early': 'upstream-invalid-response',
  'invalid-response': 'upstream-invalid-response',
} as const satisfies Record<FailureReason, ErrorCode>

/** What the client is told of a 503 for lack of a connection; undefined = the text of the code. */
const shareDetails: Readonly<Record<MissingShare, string | undefined>> = {
  pool: undefined,
  network: 'Your network has as many requests in progress at the service behind this path as one may have.',
  account: 'Your account has as many requests in progress at the service behind this path as one may have.',
  session:
    'Your connection has as many requests in progress at the service behind this path as one may have.',
  bodies: 'Too many requests whose bodies are still arriving wait for the service behind this path.',
}
