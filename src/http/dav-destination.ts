import { GatehouseError, sharedError } from '../errors/gatehouse-error.ts'
import { encodeHighBytes } from '../http1/request-line.ts'
import type { Client } from '../proxy/client.ts'
import { hostOf } from '../proxy/location.ts'
import type { OwnPaths } from '../routes/own-paths.ts'
import { parseRequestTarget, type RequestTarget } from '../routes/request-target.ts'
import { type Route, upstreamTarget } from '../routes/route.ts'
import type { RouteTable } from '../routes/table.ts'
import type { Arrival } from './arrival.ts'
import { createGate, type GateOptions } from './gate.ts'
import { createOutcome, destinationOf, principalOf, recordDestination, recordReason } from './outcome.ts'
import { findRoute } from './route-request.ts'

export interface DavDestinationOptions
  extends Pick<
    GateOptions<Route<unknown>, Arrival<unknown>>,
    'authenticator' | 'limiter' | 'failures' | 'checkBasicKey'
  > {
  readonly table: RouteTable<unknown>
  readonly ownPaths: Pick<OwnPaths, 'has'>
  /** Of `publicUrl`. */
  readonly publicOrigin: string
}

/** The path and query for the upstream, or why the request is refused. */
export type DavDestinationResult = string | GatehouseError

/**
 * Checks the Destination of a COPY or MOVE (RFC 4918 10.3), which is a second target: it must be one unambiguous URL of
 * the host that the client called, which the caller may reach by its own route with the same method, at the same
 * upstream. It is checked whatever the method is: a backend may take the method from elsewhere. The destination is not
 * counted as a request of its own.
 * @param route the admitted route of the request
 * @throws GatehouseError `store-unavailable`, synchronously or as a rejection, if it cannot be decided
 */
export type CheckDavDestination = (
  route: Route<unknown>,
  arrival: Arrival<unknown>,
) => DavDestinationResult | Promise<DavDestinationResult>

export function createDavDestinationCheck(options: DavDestinationOptions): CheckDavDestination {
  const { authenticator, limiter, failures, checkBasicKey, table, ownPaths, publicOrigin } = options
  const gate = createGate<Route<unknown>, Arrival<unknown>>({
    authenticator,
    limiter,
    failures,
    checkBasicKey,
    findRoute: (arrival) => {
      const route = findRoute(table, arrival)
      return route instanceof GatehouseError ? route : { ...route, rateLimit: undefined }
    },
    takePlan: () => undefined,
    metrics: undefined,
    keyUses: { record: () => {} },
  })

  return function checkDavDestination(route, arrival) {
    const refuse = (reason: string) => {
      recordReason(arrival.outcome, `the Destination ${reason}`)
      return sharedError('destination-forbidden')
    }
    const target = readDavDestination(
      arrival.fields.uncommon.davDestination ?? '',
      arrival.client,
      publicOrigin,
    )
    if (typeof target === 'string') return refuse(target)
    if (ownPaths.has(target.path, destinationOf(arrival.outcome).hostName))
      return refuse("is a path of the gateway's own")
    const second = secondArrival(arrival, target)
    const found = findRoute(table, second)
    if (found instanceof GatehouseError) return refuse(`is refused: ${found.code}`)
    if (found.upstream !== route.upstream) return refuse(`belongs to another upstream, that of ${found.name}`)
    // A public route has looked at no credential, and its backend is told of no caller.
    if (principalOf(arrival.outcome) === undefined && !allowsAnonymous(found))
      return refuse(`is on a route that needs a caller, ${found.name}`)
    const settle = (result: Route<unknown> | GatehouseError): DavDestinationResult => {
      if (!(result instanceof GatehouseError)) return upstreamTarget(found, target)
      return result.code === 'too-many-failures'
        ? result
        : refuse(`is refused by ${found.name}: ${result.code}`)
    }
    const result = gate(second)
    return result instanceof Promise ? result.then(settle) : settle(result)
  }
}

function allowsAnonymous({ access }: Route<unknown>): boolean {
  return access.kind === 'public' || access.isOptional
}

/** The same request for another target, with an outcome of its own. */
function secondArrival(arrival: Arrival<unknown>, target: RequestTarget): Arrival<unknown> {
  const outcome = createOutcome()
  recordDestination(outcome, { target, hostName: destinationOf(arrival.outcome).hostName, match: undefined })
  return { ...arrival, outcome }
}

// RFC 4918 8.3: an absolute URI, or a path. No user, as in a request target (RFC 9110 4.2.4).
const absoluteForm = /^(https?:)\/\/([^/?#\\@]+)(?=[/?]|$)/i

/** @returns what is wrong with it, as text */
function readDavDestination(sent: string, client: Client, publicOrigin: string): RequestTarget | string {
  const [origin, scheme = '', authority = ''] = absoluteForm.exec(sent) ?? []
  if (origin === undefined && !sent.startsWith('/')) return 'is no URL or path'
  if (origin !== undefined && !isOwnOrigin(scheme, authority, { client, publicOrigin }))
    return 'is of another host'
  const rest = origin === undefined ? sent : sent.slice(origin.length)
  const target = parseRequestTarget(encodeHighBytes(rest.startsWith('/') ? rest : `/${rest}`))
  return target ?? 'is ambiguous'
}

/** Of the host that the client called, by the scheme that it used; a proxy may not say which, but `publicUrl` does. */
function isOwnOrigin(
  scheme: string,
  authority: string,
  { client, publicOrigin }: { readonly client: Client; readonly publicOrigin: string },
): boolean {
  const publicScheme = publicOrigin.slice(0, publicOrigin.indexOf('//'))
  const lower = scheme.toLowerCase()
  return (
    (lower === `${client.protocol}:` || lower === publicScheme) &&
    hostOf(lower, authority) === hostOf(lower, client.host)
  )
}
