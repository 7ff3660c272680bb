import type { Config } from '#config/config.ts'
import { destinationOf, principalOf } from '#gateway/arrival/outcome.ts'
import type { RequestFields } from '#gateway/arrival/request-fields.ts'
import { type SecondTargets, secondTargetLines } from '#gateway/forward/forwarded-request.ts'
import type { AssertionHeader } from '#gateway/forward/identity-headers.ts'
import { stickyCookieName } from '#gateway/forward/own-cookies.ts'
import { forwardedPrefix } from '#gateway/forward/stripped-prefix.ts'
import type { RequestHeadInput } from '#gateway/forward/upstream-head.ts'
import { isWebSocketUpgrade } from '#gateway/gate/upgrades.ts'
import { type Route, upstreamTarget } from '#gateway/routes/route.ts'
import { createDecisionWriter } from '#gateway/server/decide-server.ts'
import { fieldsOf } from '#http/message/field-lines.ts'
import { readTargetAddress, type TargetAddress } from '#http/outgoing/target-address.ts'
import { fieldsIn, type RequestHead, valuesOf } from '#http/request-head.ts'
import type { UpstreamConfig } from '#http/upstream/upstream-config.ts'
import { createCarriers } from '#identity/carriers.ts'
import type { Principal } from '#identity/decision.ts'
import { secretPlaceholder } from '#platform/secrets/hide-secrets.ts'
import { foldHeaderName } from '#platform/text.ts'
import { createForwardParts, ownHeaderNames } from '#runtime/assembly/forward-parts.ts'
import { redactHeader, redactTarget, type ShownHeader } from '../redact.ts'
import { type StepResult, unmentioned } from './explanation.ts'
import { type ExplainedArrival, perRequestValue } from './read-arrival.ts'

interface ExplainedForward {
  readonly route: Route<UpstreamConfig>
  readonly arrival: ExplainedArrival
  readonly input: RequestHeadInput
  /** undefined = the request names none. */
  readonly secondTargets: SecondTargets | undefined
}

/** What the upstream would get. */
export function describeUpstream(config: Config, forward: ExplainedForward): StepResult {
  const { route, arrival, input } = forward
  const { head, outcome } = arrival
  const { upstream } = route
  const headers = showUpstreamHead(config, forward)
  const [basePath = '', ...others] = new Set(addressesOf(upstream).map((address) => address.basePath))
  const hasSeveral = others.length > 0
  const target = redactTarget(
    (hasSeveral ? '' : basePath) + upstreamTarget(route, destinationOf(outcome).target),
  )
  const notes = [
    describeSticky(upstream, head),
    describePrefix(input),
    describeTrailers(head, route),
    describeIgnoredUpgrade(head, input),
    describeResponseHeaders(route),
    describeCost(route),
  ]
  return {
    detail: `${upstream.name} receives ${head.method} ${target}${hasSeveral ? ' below the base path of the target' : ''}${notes.map(({ detail }) => detail).join('')}`,
    facts: {
      upstream: upstream.name,
      method: head.method,
      target,
      headers,
      ...Object.assign({}, ...notes.map(({ facts }) => facts)),
    },
  }
}

/** The second targets of the request, which have passed. */
export function describeSecondTargets({ lines, destination }: SecondTargets): StepResult {
  const own =
    destination === undefined ? '' : `Destination: ${destination.origin ?? ''}${destination.path}\r\n`
  const targets = parseLines(own + lines).map(({ name, value }) => ({ name, value: redactTarget(value) }))
  const told = targets.map(({ name, value }) => `${name}: ${value}`).join(', ')
  return { detail: told === '' ? 'allowed' : `allowed; the upstream gets ${told}`, facts: { targets } }
}

/** The cookie that names the target of the client: which target that is, only the gateway knows. */
function describeSticky({ name, balancing }: UpstreamConfig, { rawHeaders }: RequestHead): StepResult {
  if (balancing !== 'sticky') return unmentioned
  const cookie = stickyCookieName(name)
  const isSent = valuesOf(rawHeaders, 'cookie').some((value) => value.includes(`${cookie}=`))
  const detail = isSent
    ? `, at the target that the cookie ${cookie} names, or any if it names none that is healthy`
    : `, at any target, which the cookie ${cookie} will name`
  return { detail, facts: { stickyCookie: cookie } }
}

/** What was replaced in the path, and is put back in the answer. */
function describePrefix({ strippedPrefix }: Pick<RequestHeadInput, 'strippedPrefix'>): StepResult {
  if (!strippedPrefix) return unmentioned
  const { own, replacement } = strippedPrefix
  const prefix = forwardedPrefix(strippedPrefix)
  const done =
    replacement === ''
      ? `without the prefix ${own}; ${prefix} is put back before`
      : `${replacement} in place of ${own || '/'}; ${prefix || '/'} in place of ${replacement} in`
  return {
    detail: ` (${done} the paths of Location, Content-Location, Refresh, Link and Set-Cookie)`,
    facts: { strippedPrefix: own, rewrite: replacement || '/', forwardedPrefix: prefix },
  }
}

/** What in the response says how many units the request used. */
function describeCost({
  costHeader,
  costField,
  includesUsage,
  spendsUnits,
}: Pick<Route<unknown>, 'costHeader' | 'costField' | 'includesUsage' | 'spendsUnits'>): StepResult {
  const fields = costField?.map(({ paths, factor }) => ({ field: paths.join(' | '), factor }))
  const sources = [
    ...(costHeader === undefined ? [] : [`the header ${costHeader}`]),
    ...(fields ?? []).map(
      ({ field, factor }) => `${field}${factor === 1 ? '' : ` times ${factor}`} in the body`,
    ),
  ]
  if (sources.length === 0) return unmentioned
  const asked = includesUsage ? '; if its body asks for a stream, it gets stream_options.include_usage' : ''
  const spent = spendsUnits ? '; quotas count its units' : ''
  const quotaCounts = spendsUnits ? 'units' : 'requests'
  return {
    detail: `; its units come from ${sources.join(', ')}; otherwise it is one${asked}${spent}`,
    facts: {
      costHeader: costHeader ?? null,
      costFields: fields ?? [],
      includeUsage: includesUsage,
      quotaCounts,
    },
  }
}

/** What the client gets instead of fields of the backend. */
function describeResponseHeaders({ responseHeaders }: Pick<Route<unknown>, 'responseHeaders'>): StepResult {
  if (responseHeaders === undefined) return unmentioned
  const names = responseHeaders.set.filter((_, index) => index % 2 === 0)
  const lower = new Set(names.map((name) => name.toLowerCase()))
  const removed = [...responseHeaders.replacedNames].filter((name) => !lower.has(name))
  const parts = [
    ...(names.length > 0 ? [`with ${names.join(', ')} of the route`] : []),
    ...(removed.length > 0 ? [`without ${removed.join(', ')}`] : []),
  ]
  return {
    detail: `; the client gets its response ${parts.join(' and ')}`,
    facts: { responseHeaders: { set: names, remove: removed } },
  }
}

/** An upgrade that the route does not proxy. */
function describeIgnoredUpgrade(
  head: RequestHead,
  { isUpgrade }: Pick<RequestHeadInput, 'isUpgrade'>,
): StepResult {
  if (head.upgrade === undefined || isUpgrade) return unmentioned
  const why = isWebSocketUpgrade(head)
    ? 'the route has no websocket: true'
    : 'only a GET without a body can become a WebSocket, and no other protocol is proxied'
  return { detail: `, as an ordinary request without Upgrade: ${why}`, facts: { isUpgradeIgnored: true } }
}

/** Whether trailer fields are forwarded: only a chunked body can have them. */
function describeTrailers({ body }: RequestHead, { passesTrailers }: Route<unknown>): StepResult {
  if (body.kind !== 'chunked') return unmentioned
  return passesTrailers
    ? { detail: ', and its trailer fields', facts: { trailers: 'pass' } }
    : { detail: ', without its trailer fields', facts: { trailers: 'drop' } }
}

/** What a proxy would be told about an allowed request, by the same code as in the gateway. */
export function describeDecision(
  config: Config,
  route: Route<UpstreamConfig | undefined>,
  { outcome, requestId, head: { rawHeaders } }: ExplainedArrival,
): StepResult {
  const writeDecision = createDecisionWriter(
    config.identityHeaders,
    config.assertion.enabled ? assertionPlaceholder(config.assertion) : undefined,
  )
  const principal = principalOf(outcome)
  const headers = parseLines(writeDecision({ principal, route, requestId, rawHeaders, trace: undefined }))
  return {
    detail: 'the proxy gets 200, and these headers for the request that it forwards',
    facts: { upstream: null, headers },
  }
}

/** The headers that the upstream would receive, built by the same code as in the gateway. */
function showUpstreamHead(
  config: Config,
  { route: { upstream }, arrival: { fields, outcome }, input, secondTargets }: ExplainedForward,
): readonly ShownHeader[] {
  const assertion = config.assertion.enabled ? assertionPlaceholder(config.assertion) : undefined
  const { writer } = createForwardParts(config, createCarriers(config.keys.accept), assertion)
  const lines = writer.writeHead(input)
  const host = hostFor(upstream, fields)
  const { origin = '', basePath = '' } = addressesOf(upstream)[0] ?? {}
  const targets =
    secondTargets === undefined ? '' : secondTargetLines(secondTargets, { origin, basePath, sentHost: host })
  const headers = [{ name: 'Host', value: host }, ...parseLines(targets + lines)]
  // A configured name may look like that of a secret, but the value is the gateway's own.
  const identity = new Set(ownHeaderNames(config).map((name) => name.toLowerCase()))
  return headers.map((header) => {
    if (identity.has(header.name.toLowerCase())) return header
    if (upstream.headers?.secretNames.has(foldHeaderName(header.name)))
      return { ...header, value: secretPlaceholder }
    const isGenerated = outcome.trace !== undefined && header.value.includes(outcome.trace.upstreamSpanId)
    return isGenerated ? { ...header, value: perRequestValue } : redactHeader(header, config.keys.accept)
  })
}

/** Stands for an assertion: explain signs none. */
function assertionPlaceholder({ header, lifetimeMs }: Config['assertion']): AssertionHeader {
  return {
    header,
    of: (_: Principal, audience) => `(signed by the gateway for ${audience}, ${lifetimeMs / 1_000} s)`,
  }
}

function hostFor(upstream: UpstreamConfig, fields: RequestFields): string {
  if (upstream.host === 'client') return fields.host ?? ''
  return [...new Set(addressesOf(upstream).map(({ authority }) => authority))].join(' or ')
}

function addressesOf({ targets }: Pick<UpstreamConfig, 'targets'>): readonly TargetAddress[] {
  return targets.map(({ url }) => readTargetAddress(url))
}

function parseLines(lines: string): readonly ShownHeader[] {
  // Decoded for the operator: on the wire each byte is one character.
  return Array.from(fieldsIn(fieldsOf(lines, 0, lines.length)), ([name, value]) => ({
    name,
    value: Buffer.from(value, 'latin1').toString(),
  }))
}
