import { onlyValueOf } from '#http/h1/raw-headers.ts'
import type { Principal } from '#identity/decision.ts'
import { parseTraceparent, type Trace, traceparentOf } from '#ops/tracing/tracer.ts'
import { memoizeByObject } from '#platform/memoize.ts'
import {
  type AssertionHeader,
  type IdentityHeaders,
  identityOf,
  identityValue,
} from '../forward/identity-headers.ts'
import type { Route } from '../routes/route.ts'

/** What the answer to an allowed request depends on. */
interface AllowedRequest {
  /** undefined = anonymous. */
  readonly principal: Principal | undefined
  readonly route: Pick<Route<{ readonly name: string } | undefined>, 'name' | 'upstream' | 'access'>
  readonly requestId: string
  /** What the proxy sent. */
  readonly rawHeaders: readonly string[]
  /** undefined = the client's traceparent is passed on. */
  readonly trace: Trace | undefined
}

/** Writes what the proxy is to set on the request, as field lines. */
export interface DecisionWriter {
  /** @throws GatehouseError `store-unavailable` where the account could not be read, or no assertion can be signed */
  write(allowed: AllowedRequest): string
}

interface DecisionWriterOptions {
  readonly identityHeaders: IdentityHeaders
  /** undefined = no assertion is sent. */
  readonly assertion: AssertionHeader | undefined
}

/**
 * Every identity header is always written, with an empty value if the caller has none: a proxy that copies the headers
 * then overwrites what its client sent, as some keep a field that the answer lacks.
 */
export function createDecisionWriter({ identityHeaders, assertion }: DecisionWriterOptions): DecisionWriter {
  const fields = identityOf(identityHeaders)
  const anonymous = [...fields.map(({ name }) => name), ...(assertion ? [assertion.header] : [])]
    .map((name) => `${name}: \r\n`)
    .join('')

  const linesOf = memoizeByObject((principal: Principal) => ({
    lines: fields.map((field) => `${field.name}: ${identityValue(field, principal) ?? ''}\r\n`).join(''),
  }))

  function identity({ principal, route }: AllowedRequest): string {
    if (principal === undefined) return anonymous
    const { lines } = linesOf(principal)
    if (assertion === undefined) return lines
    // The audience is the upstream, or the route if it has none.
    return `${lines}${assertion.header}: ${assertion.of(principal, route.upstream?.name ?? route.name)}\r\n`
  }

  function traceLine({ trace, rawHeaders }: AllowedRequest): string {
    const traceparent = trace ? traceparentOf(trace) : onlyValueOf(rawHeaders, 'traceparent')
    if (traceparent === undefined || parseTraceparent(traceparent) === undefined) return ''
    return `traceparent: ${traceparent}\r\n`
  }

  return {
    write: (allowed) =>
      `Cache-Control: no-store\r\nX-Request-Id: ${allowed.requestId}\r\n${authorizationLine(allowed)}${traceLine(allowed)}${identity(allowed)}`,
  }
}

/** Tells the proxy to leave Authorization as its client sent it; without this line it removes the field. */
function authorizationLine({ route }: AllowedRequest): string {
  return route.access.leavesAuthorization ? 'X-Gatehouse-Authorization: backend\r\n' : ''
}
