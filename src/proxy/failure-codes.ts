import type { ErrorCode } from '../errors/codes.ts'
import type { FailureReason } from '../upstream/failure.ts'

/** What the client is told about a failed exchange: never where the target is, nor how it failed. */
export const failureCodes = {
  'connect-failed': 'upstream-unreachable',
  'connect-timeout': 'upstream-timeout',
  'no-resources': 'upstream-unavailable',
  'no-target': 'upstream-unavailable',
  'no-connection': 'upstream-unavailable',
  'response-timeout': 'upstream-timeout',
  'idle-timeout': 'upstream-timeout',
  'body-stalled': 'request-timeout',
  'closed-early': 'upstream-invalid-response',
  'invalid-response': 'upstream-invalid-response',
} as const satisfies Record<FailureReason, ErrorCode>
