import { type ErrorCode, type ErrorDefinition, errorDefinitions } from './codes.ts'

/** The invalid field: a member of the body or a header by name, or `body` or `request` as a whole. */
export interface FieldError {
  readonly field: string
  readonly message: string
}

interface GatehouseErrorOptions {
  readonly cause?: unknown
  /** Overrides the text of the table; sent to the client. */
  readonly detail?: string | undefined
  readonly errors?: readonly FieldError[] | undefined
  /** Methods that the path allows, for Allow. */
  readonly allow?: readonly string[] | undefined
  /** The account concerned, for the log; not sent to the client. */
  readonly accountId?: string | undefined
  /** The rate that was exceeded, for Retry-After and RateLimit-*. */
  readonly rate?: ExceededRate | undefined
  /** For DPoP-Nonce. */
  readonly nonce?: string | undefined
  /** Whether it is the same for all requests (see sharedError). */
  readonly isShared?: boolean
}

/** What a caller has left of a limit that a request was counted against. */
export interface Allowance {
  /** Its name in `RateLimit-Policy`. */
  readonly policy: string
  readonly limit: number
  /** The time in which the whole limit is allowed again, or the length of the quota's window. */
  readonly windowMs: number
  readonly remaining: number
  /** Until the whole limit is allowed again. */
  readonly resetMs: number
}

/** A limit that was exceeded, and when the next request is allowed. */
export interface ExceededRate extends Allowance {
  readonly retryMs: number
}

/** A request that is refused or cannot be served; `errorDefinitions` has its status and text. */
export class GatehouseError extends Error {
  override readonly name = 'GatehouseError'
  readonly code: ErrorCode
  readonly status: number
  readonly title: string
  readonly detail: string | undefined
  readonly errors: readonly FieldError[] | undefined
  readonly allow: readonly string[] | undefined
  readonly accountId: string | undefined
  readonly rate: ExceededRate | undefined
  readonly nonce: string | undefined
  readonly isShared: boolean

  constructor(
    code: ErrorCode,
    { cause, detail, errors, allow, accountId, rate, nonce, isShared = false }: GatehouseErrorOptions = {},
  ) {
    const failure: ErrorDefinition = errorDefinitions[code]
    const { stackTraceLimit } = Error
    // A refusal needs only its code, and capturing its stack would be the most expensive part.
    if (code !== 'internal') Error.stackTraceLimit = 0
    super(`${code}: ${detail ?? failure.title}`, { cause })
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.status = failure.status
    this.title = failure.title
    this.detail = detail ?? failure.detail
    this.errors =
      errors ?? (code === 'request-invalid' ? [{ field: 'request', message: this.detail ?? '' }] : undefined)
    this.allow = allow
    this.accountId = accountId
    this.rate = rate
    this.nonce = nonce
    this.isShared = isShared
  }
}

/** The same error in other words. */
export function reworded(
  error: GatehouseError,
  words: Pick<GatehouseErrorOptions, 'detail' | 'errors'>,
): GatehouseError {
  const { code, cause, detail, errors, allow, accountId, rate, nonce } = error
  return new GatehouseError(code, { cause, detail, errors, allow, accountId, rate, nonce, ...words })
}

const sharedErrors = new Map<ErrorCode, Map<string | undefined, GatehouseError>>()

/**
 * The shared error of a code, as creating an error costs more than sending it.
 * @param detail overrides the text of the table; must be from a closed set, as all are kept
 */
export function sharedError(code: ErrorCode, detail?: string): GatehouseError {
  const ofCode = sharedErrors.get(code) ?? new Map<string | undefined, GatehouseError>()
  const known = ofCode.get(detail)
  if (known) return known
  const refusal = new GatehouseError(code, { ...(detail !== undefined && { detail }), isShared: true })
  sharedErrors.set(code, ofCode.set(detail, refusal))
  return refusal
}

/** Whether something failed only because the store was unavailable. */
export function isStoreUnavailable(error: unknown): boolean {
  return error instanceof GatehouseError && error.code === 'store-unavailable'
}

/** Handler of rejections that ignores `store-unavailable`. @throws every other error */
export function throwUnlessStoreUnavailable(error: unknown): void {
  if (!isStoreUnavailable(error)) throw error
}

/**
 * Writes something in the background. Where the store refuses it for another reason than an outage, it would refuse it
 * again: it is lost.
 * @returns false where the store is unavailable: to be written again
 */
export async function writeOrLose(
  write: () => Promise<unknown>,
  onLoss: (error: unknown) => void,
): Promise<boolean> {
  try {
    await write()
  } catch (error) {
    if (isStoreUnavailable(error)) return false
    onLoss(error)
  }
  return true
}

/** `request-invalid` for one field. */
export function invalidField(field: string, message: string): GatehouseError {
  return new GatehouseError('request-invalid', { errors: [{ field, message }] })
}
