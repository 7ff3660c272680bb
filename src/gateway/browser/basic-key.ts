import { type GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import { recordReason } from '../gate/outcome.ts'
import { type Arrival, credentialsOf } from '../server/arrival.ts'
import { createBrowserFieldReader } from './browser-fields.ts'
import { createOriginRule, type OriginRuleOptions } from './same-site.ts'
import { isUnsafeRequest } from './unsafe-request.ts'

/** Why a request whose key came by Basic is refused, valid as the key may be; undefined = it is not. */
export type CheckBasicKey = (arrival: Arrival<unknown>) => GatehouseError | undefined

/**
 * A browser that was once given a password adds it to every request for the host (RFC 7617 2.2), whichever page sends
 * it: so a key that came by Basic is as ambient as a cookie, and what may change something, or opens a WebSocket, must
 * not come from a page of another origin. Programs send neither Sec-Fetch-Site nor a foreign Origin.
 *
 * A method override makes no method unsafe: a page needs the leave of CORS to set its field.
 */
export function createBasicKeyCheck(options: OriginRuleOptions): CheckBasicKey {
  const readBrowserFields = createBrowserFieldReader(undefined)
  const checkOrigin = createOriginRule(options)

  return function checkBasicKey(arrival) {
    const { head, client, outcome } = arrival
    const credentials = credentialsOf(arrival)
    if (credentials.kind !== 'secretKey' || credentials.carrier !== 'basic') return undefined
    const fields = readBrowserFields(head)
    if (!isUnsafeRequest(head, fields)) return undefined
    const { site, origin } = fields
    const problem = checkOrigin({ site, origin, client })
    if (problem === undefined) return undefined
    recordReason(outcome, `the key in Authorization: Basic does not count: ${problem}`)
    return sharedError('cross-site-request', detail)
  }
}

const detail =
  'A key in Authorization: Basic is not accepted from pages of other origins, as browsers send it by themselves.'
