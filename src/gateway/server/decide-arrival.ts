import { type ClientExchange, isExtendedConnect } from '#http/client-exchange.ts'
import { isToken } from '#http/message/characters.ts'
import { fieldNameMemo } from '#http/message/name-table.ts'
import { changedHead, lengthsOf, type RequestHead } from '#http/request-head.ts'
import { encodeHighBytes } from '#http/server/request-line.ts'
import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { memoizeBounded } from '#platform/memoize.ts'
import { foldHeaderName } from '#platform/text.ts'
import { type Arrival, type ArrivalReader, createArrival } from '../arrival/arrival.ts'
import { recordReason } from '../arrival/outcome.ts'
import type { RequestFields } from '../arrival/request-fields.ts'
import { secondTargetFields, secondTargetNames } from '../arrival/second-target-fields.ts'
import { identityNames } from '../forward/header-rules.ts'
import { toGatehouseError } from '../refusals/send-problem.ts'

/** A request that a proxy has described. Its exchange, with the head of the proxy, is only used to send the answer. */
export interface DecideArrival extends Arrival {
  /** Why the request cannot be decided about; undefined = it can. */
  readonly problem: GatehouseError | undefined
  /** The status that every refusal but 401 gets; undefined = its own. */
  readonly refusalStatus: number | undefined
}

export type ReadDecideArrival = (exchange: ClientExchange, head: RequestHead) => DecideArrival

interface DecideArrivalOptions extends ArrivalReader {
  /** Names of the headers that the proxy sets on an allowed request. */
  readonly identityNames: readonly string[]
  /** Called if the peer that asks is not a trusted proxy. */
  onUntrusted(peerAddress: string): void
}

/** The body of a described request is unknown: the proxy does not send it. */
const noBody = { kind: 'none', isEmpty: false } as const
const forbidden = 403

/** Reads what trusted proxies describe; anything else becomes a request with a problem. */
export function createDecideArrivalReader({
  trusted,
  fieldReader,
  identityNames,
  onUntrusted,
}: DecideArrivalOptions): ReadDecideArrival {
  const { carriers } = fieldReader
  const assertNoAliases = createAliasCheck(identityNames)

  function describe(head: RequestHead, fields: RequestFields): Description {
    const endpoint = endpointOf(head)
    assertNoAliases(head.rawHeaders)
    return endpoint === 'decide'
      ? readDescription(head.rawHeaders)
      : readEnvoyDescription(head, fields.host, fields.uncommon.isHostRepeated)
  }

  return function readDecideArrival(exchange, sentHead) {
    const sentFields = fieldReader.read(sentHead)
    const refusalStatus = asksFor403(sentHead.target) ? forbidden : undefined
    try {
      if (!trusted.has(exchange.peerAddress)) {
        onUntrusted(exchange.peerAddress)
        throw untrusted
      }
      if (isExtendedConnect(exchange, sentHead)) throw tunnelRefused
      const { method, target, host } = describe(sentHead, sentFields)
      const head = changedHead(sentHead, { method, target, body: noBody, expectsContinue: false })
      const uncommon = { ...sentFields.uncommon, isHostRepeated: false, forwardedHost: host }
      const fields = { ...sentFields, host, uncommon }
      const arrival = createArrival(exchange, head, {
        trusted,
        fieldReader: { carriers, read: () => fields },
      })
      return { ...arrival, problem: undefined, refusalStatus }
    } catch (error) {
      return withProblem(createArrival(exchange, sentHead, { trusted, fieldReader }), toGatehouseError(error))
    }
  }
}

/**
 * The proxy gets a 403, as most proxies know only 401 and 403. It may drop the body of the answer, so what is wrong is
 * also logged.
 */
function withProblem(arrival: Arrival, problem: GatehouseError): DecideArrival {
  const reason =
    problem.errors?.map(({ field, message }) => `${field} ${message}`).join('; ') ?? problem.detail
  if (reason !== undefined) recordReason(arrival.outcome, reason)
  return { ...arrival, problem, refusalStatus: forbidden }
}

const tunnelRefused = new GatehouseError('method-not-allowed', { allow: ['GET', 'POST'] })

const untrusted = new GatehouseError('address-forbidden', {
  detail: 'Only the addresses in trustedProxies may ask for decisions.',
})

/** What a proxy says about the request that is to be decided about. */
interface Description {
  readonly method: string
  /** In origin form; bytes above 0x7F are percent-encoded, as those of a request line are. */
  readonly target: string
  readonly host: string
}

/** The path of the listener, and the prefix of the paths that Envoy asks for. */
const decidePath = '/decide'
const envoyPrefix = '/envoy'

/** The fields of a description: each is required, and must occur exactly once. */
const describingFields = {
  'x-forwarded-method': 'X-Forwarded-Method',
  'x-forwarded-host': 'X-Forwarded-Host',
  'x-forwarded-uri': 'X-Forwarded-Uri',
} as const

type DescribingField = keyof typeof describingFields

/** Optional, but must not have several values. */
const protoField = 'x-forwarded-proto'
const lengths = lengthsOf([...Object.keys(describingFields), protoField])

/**
 * Reads the request that a proxy describes in X-Forwarded-*. A description that two readers could understand
 * differently is rejected: a field that is missing (the proxy's own request would be decided about instead), a second
 * line or a list (one of them may be the client's), a URI that is no path.
 * @throws GatehouseError `request-invalid`
 */
function readDescription(rawHeaders: readonly string[]): Description {
  const found = new Map<string, string>()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (lengths[name.length] !== 1) continue
    const lower = name.toLowerCase()
    if (lower !== protoField && !isDescribing(lower)) continue
    if (found.has(lower)) throw invalidField(name, 'was sent more than once')
    found.set(lower, rawHeaders[index + 1] ?? '')
  }
  const protocol = found.get(protoField)
  if (protocol !== undefined && !schemePattern.test(protocol))
    throw invalidField('X-Forwarded-Proto', 'must be a scheme')
  return {
    method: readMethod(describing(found, 'x-forwarded-method')),
    target: readTarget(describing(found, 'x-forwarded-uri')),
    host: readHost(describing(found, 'x-forwarded-host')),
  }
}

function isDescribing(lower: string): lower is DescribingField {
  return Object.hasOwn(describingFields, lower)
}

function describing(found: ReadonlyMap<string, string>, name: DescribingField): string {
  const value = found.get(name)
  if (value === undefined || value === '') throw invalidField(describingFields[name], 'is missing')
  return value
}

function readMethod(method: string): string {
  if (!isToken(method)) throw invalidField('X-Forwarded-Method', 'must be a method')
  return method
}

/** RFC 3986 3.2.2 allows a comma in a host, but none has one in practice: it separates the hosts of several proxies. */
function readHost(host: string): string {
  if (host.includes(',')) throw invalidField('X-Forwarded-Host', 'must be one host')
  return host
}

const schemePattern = /^[A-Za-z][A-Za-z0-9+.-]*$/
const absoluteForm = /^[a-z][a-z0-9+.-]*:/i

function readTarget(target: string): string {
  if (absoluteForm.test(target) || !target.startsWith('/'))
    throw invalidField('X-Forwarded-Uri', 'must be a path, with its query if it has one')
  // Not `\s`, which matches the byte A0, too: a request line may have this byte in its target, but no white space.
  if (/[\t-\r ]/.test(target)) throw invalidField('X-Forwarded-Uri', 'must not contain spaces')
  return encodeHighBytes(target)
}

/**
 * Reads the request that Envoy describes: its own request has the method, the host and, after a prefix, the path.
 * @throws GatehouseError `request-invalid`
 */
function readEnvoyDescription(
  { method, target }: Pick<RequestHead, 'method' | 'target'>,
  host: string | undefined,
  isHostRepeated: boolean,
): Description {
  if (host === undefined || isHostRepeated) throw invalidField('Host', 'must be sent once')
  return { method, target: target.slice(envoyPrefix.length), host }
}

/** The two ways in which proxies ask. */
type Endpoint = 'decide' | 'envoy'

/** @throws GatehouseError `route-not-found`, `method-not-allowed` */
function endpointOf({ method, target }: Pick<RequestHead, 'method' | 'target'>): Endpoint {
  if (target.startsWith(`${envoyPrefix}/`)) return 'envoy'
  if (target.split('?', 1)[0] !== decidePath)
    throw new GatehouseError('route-not-found', { detail: `Proxies ask ${decidePath}, or ${envoyPrefix}/….` })
  if (method !== 'GET' && method !== 'POST')
    throw new GatehouseError('method-not-allowed', { allow: ['GET', 'POST'] })
  return 'decide'
}

/**
 * Whether every refusal but 401 becomes a 403. Other parameters are ignored, as some proxies add those of their client.
 * @param target of the request to this listener
 */
function asksFor403(target: string): boolean {
  return /^[^?]*\?(?:.*&)?deny=403(?:&|$)/.test(target)
}

/**
 * Refuses other spellings of identity headers (`X_User_Id`, `x.user.role`), and of headers that name a second target.
 * The main listener drops them. Here they would stay on the request, beside the identity header that the proxy sets or
 * the second target that was checked, and a backend that turns names into variables could read either.
 * @param configured names of the identity headers
 * @returns a function that throws GatehouseError `request-invalid`
 */
function createAliasCheck(configured: readonly string[]): (rawHeaders: readonly string[]) => void {
  const names = [...identityNames, ...configured].map((name) => name.toLowerCase())
  const known = new Set([...names, ...secondTargetFields.keys()])
  const folded = new Set([...names.map(foldHeaderName), ...secondTargetNames])
  const isAlias = memoizeBounded(
    fieldNameMemo,
    (name) => !known.has(name.toLowerCase()) && folded.has(foldHeaderName(name)),
  )
  return function assertNoAliases(rawHeaders) {
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const name = rawHeaders[index] ?? ''
      if (isAlias(name)) throw invalidField(name, 'could be read as a header of the gateway')
    }
  }
}
