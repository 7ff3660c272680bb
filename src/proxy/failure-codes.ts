import type { ErrorCode } from '../errors/codes.ts'
import type { FailureReason } from '../upstream/failure.ts'

/** The error that the client gets for a failed exchange: neither the address of the target nor the cause. */
export const failureCodes = {
  'connect-failed': 'upstream-unreachable',
  'connect-timeout': 'upstream-timeout',
  'no-resources': 'upstream-unavailable',
  'no-target': 'upstream-unavailable',
  'no-connection': 'upstream-unavailable',
  'response-timeout': 'upstream-timeout',
  'idle-timeout': 'upstream-timeout',
  'body-stalled': 'request-timeout',
  'not-processed': 'upstream-unreachable',
  'closed-early': 'upstream-invalid-response',
  'invalid-response': 'upstream-invalid-response',
} as const satisfies Record<FailureReason, ErrorCode>
