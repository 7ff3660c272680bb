import { changedHead } from '#http/request-head.ts'
import { GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import { foldHeaderName } from '#platform/text.ts'
import type { GatedArrival } from '../arrival/arrival.ts'
import {
  createOutcome,
  destinationOf,
  principalOf,
  recordDestination,
  recordReason,
} from '../arrival/outcome.ts'
import { type SecondTargetField, secondTargetFields } from '../arrival/second-target-fields.ts'
import type { SecondTargets } from '../forward/forwarded-request.ts'
import { readStrippedPrefix } from '../forward/stripped-prefix.ts'
import type { HeadUpstream } from '../forward/upstream-head.ts'
import type { OwnPaths } from '../routes/own-paths.ts'
import type { RequestTarget } from '../routes/request-target.ts'
import { allowsAnonymous, type Route, upstreamTarget } from '../routes/route.ts'
import type { Destination, RouteTable } from '../routes/table.ts'
import { createGate, type GateOptions } from './gate.ts'
import { bucketHosts, readSecondTarget, type SecondTarget } from './read-second-target.ts'
import { findRoute } from './route-request.ts'

interface SecondTargetOptions
  extends Pick<
    GateOptions<Route<unknown>, GatedArrival>,
    'authenticator' | 'limiter' | 'failures' | 'checkAmbientKey' | 'readKeyHeaders' | 'readClientCertificate'
  > {
  readonly table: RouteTable<unknown>
  readonly ownPaths: Pick<OwnPaths, 'has'>
  /** The origin of `publicUrl`. */
  readonly publicOrigin: string
}

/**
 * Checks the second targets of a request, such as the Destination of a COPY or MOVE (RFC 4918 10.3): each must be one
 * unambiguous path of this gateway, which the caller may reach by its own route, at the same upstream. They are checked
 * whatever the method is: a backend may take the method from elsewhere. They are not counted as requests of their own.
 * @param route the admitted route of the request
 * @returns what the upstream is told, or why the request is refused
 * @throws GatehouseError `store-unavailable`, as a rejection, if it cannot be decided
 */
export type CheckSecondTargets = (
  route: Route<HeadUpstream | undefined>,
  arrival: GatedArrival,
) => Promise<SecondTargets | GatehouseError>

export function createSecondTargetCheck(options: SecondTargetOptions): CheckSecondTargets {
  const { table, ownPaths, publicOrigin } = options
  const hasHosts = table.routes.some(({ host }) => host !== undefined)
  const gate = createGate<Route<unknown>, GatedArrival>({
    ...options,
    // No route takes the access cookie here.
    readAccessCookie: undefined,
    steps: undefined,
    findRoute: (arrival) => {
      const route = findRoute(table, arrival)
      return route instanceof GatehouseError ? route : { ...route, rateLimit: undefined }
    },
    // The token is proven once, for the request itself: see findAllowed.
    checkPossession: () => undefined,
    takePlanLimits: () => undefined,
    metrics: undefined,
    keyUses: { record: () => {} },
  })

  /** The route of a target, if the caller may reach it. */
  async function findAllowed(
    second: GatedArrival,
    { route, arrival }: NamingRequest,
  ): Promise<Route<unknown> | TargetRefusal> {
    const found = findRoute(table, second)
    if (found instanceof GatehouseError) return `is refused: ${found.code}`
    if (found.upstream !== route.upstream) return `is on the route ${found.name}, which has another upstream`
    // On a public route no credential is read, and the backend is told of no caller.
    if (principalOf(arrival.outcome) === undefined && !allowsAnonymous(found))
      return `is on the route ${found.name}, which requires a credential`
    const result = await gate(second)
    if (!(result instanceof GatehouseError)) {
      const isProven = boundTo(second) === undefined || boundTo(second) === boundTo(arrival)
      return isProven ? found : `is refused by ${found.name}: the request proves no token`
    }
    return result.code === 'too-many-failures' ? result : `is refused by ${found.name}: ${result.code}`
  }

  /** The target as its route forwards it; if there are several methods, all their routes must agree. */
  async function findForwarded(
    { target }: SecondTarget,
    methods: readonly string[],
    request: NamingRequest,
  ): Promise<{ readonly path: string } | TargetRefusal> {
    const { hostName } = destinationOf(request.arrival.outcome)
    const paths = new Set<string>()
    for (const method of methods) {
      const found = await findAllowed(secondArrival(request.arrival, { target, hostName, method }), request)
      if (isTargetRefusal(found)) return found
      paths.add(upstreamTarget(found, target))
    }
    const [path = ''] = paths
    return paths.size === 1 ? { path } : stripsAnother
  }

  /** The routes of the bucket's possible hosts count too. */
  async function refusalOfHosts(
    { methods = [] }: NamingField,
    path: string,
    request: NamingRequest,
  ): Promise<TargetRefusal | undefined> {
    const { arrival, route } = request
    const hosts = hasHosts ? bucketHosts(path, destinationOf(arrival.outcome).hostName) : []
    for (const view of hosts.flatMap((host) => methods.map((method) => ({ ...host, method })))) {
      const second = secondArrival(arrival, view)
      const found = findRoute(table, second)
      if (found instanceof GatehouseError) {
        if (found.code === 'route-not-found') continue
      } else if (found.host === undefined || found.upstream !== route.upstream) continue
      const allowed = await findAllowed(second, request)
      if (isTargetRefusal(allowed)) return allowed
    }
    return undefined
  }

  /** Checks one target. @returns the lines that tell the upstream about it */
  async function check(
    field: NamingField,
    value: string,
    request: NamingRequest,
  ): Promise<SecondTargets | TargetRefusal> {
    const { route, arrival, account } = request
    const { client, head, outcome } = arrival
    const { target, hostName } = destinationOf(outcome)
    const backendPath = upstreamTarget(route, target)
    const context = { client, publicOrigin, route, backendPath, method: head.method, account }
    const second = readSecondTarget(field.form, value, context)
    if (typeof second === 'string') return second
    if (ownPaths.has(second.target.path, hostName)) return "is a path of the gateway's own"
    const forwarded = await findForwarded(second, field.methods ?? [head.method], request)
    if (isTargetRefusal(forwarded)) return forwarded
    const written = second.write(forwarded.path)
    if (written === undefined) return stripsAnother
    const refusal = field.form === 'object' ? await refusalOfHosts(field, forwarded.path, request) : undefined
    if (refusal !== undefined) return refusal
    if (route.upstream?.headers?.replacedNames.has(foldHeaderName(field.name)) === true) return noLines
    if (field.form === 'destination' && second.isOfHost)
      return davDestination(second.target, forwarded.path, request)
    const accountLine = account === undefined ? '' : `${field.accountName}: ${account}\r\n`
    return { lines: `${field.name}: ${written}\r\n${accountLine}`, destination: undefined }
  }

  return async function checkSecondTargets(route, arrival) {
    const sent = arrival.fields.uncommon.secondTargets ?? new Map<string, string>()
    let passed: SecondTargets = noLines
    for (const [name, value] of sent) {
      const field = secondTargetFields.get(name)
      if (field === undefined || !namesTarget(field)) continue
      const account = sent.get(field.accountName?.toLowerCase() ?? '')
      const result = await check(field, value, { route, arrival, account })
      if (result instanceof GatehouseError) return result
      if (typeof result === 'string') {
        recordReason(arrival.outcome, `the ${field.name} ${result}`)
        return sharedError('destination-forbidden')
      }
      passed = {
        lines: passed.lines + result.lines,
        destination: passed.destination ?? result.destination,
      }
    }
    return passed
  }
}

const stripsAnother = 'is on a route that replaces another prefix'

const noLines: SecondTargets = { lines: '', destination: undefined }

/** What is wrong with a target, as text; an error is returned unchanged. */
type TargetRefusal = GatehouseError | string

function isTargetRefusal(result: unknown): result is TargetRefusal {
  return typeof result === 'string' || result instanceof GatehouseError
}

interface NamingRequest {
  /** The route of the request itself. */
  readonly route: Route<HeadUpstream | undefined>
  readonly arrival: GatedArrival
  /** The account of Swift that it names for the target; undefined = none. */
  readonly account: string | undefined
}

type NamingField = SecondTargetField & { readonly form: Exclude<SecondTargetField['form'], 'account'> }

function namesTarget(field: SecondTargetField): field is NamingField {
  return field.form !== 'account'
}

/** Writes Destination in the form of the route: most backends refuse one that is not among their own URLs. */
function davDestination(
  target: RequestTarget,
  forwarded: string,
  { route, arrival }: NamingRequest,
): SecondTargets {
  const { client, head } = arrival
  if (route.destination === 'target')
    return { lines: '', destination: { origin: undefined, path: forwarded } }
  const origin = `${client.protocol}://${client.host}`
  if (route.destination === 'forwarded') return { lines: '', destination: { origin, path: forwarded } }
  const outer = readStrippedPrefix(route, head.rawHeaders, client.isTrusted)?.outer ?? ''
  const line = `Destination: ${origin}${outer}${target.sentPath}${target.query}\r\n`
  return { lines: line, destination: undefined }
}

/** What the token of a decided request is bound to; undefined = nothing. */
function boundTo({ outcome: { decision } }: GatedArrival): string | undefined {
  const confirmation = decision?.kind === 'allowed' ? decision.confirmation : undefined
  return confirmation && `${confirmation.jkt} ${confirmation.certificate}`
}

/** A request for the second target, with an outcome of its own. */
function secondArrival(
  arrival: GatedArrival,
  { method, ...destination }: Destination & { readonly method: string },
): GatedArrival {
  const outcome = createOutcome()
  recordDestination(outcome, destination)
  return { ...arrival, outcome, head: changedHead(arrival.head, { method }) }
}
