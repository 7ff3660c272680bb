import type { Config } from '#config/config.ts'
import type { RequestFields } from '#gateway/arrival/request-fields.ts'
import { type SecondTargets, secondTargetLines } from '#gateway/forward/forwarded-request.ts'
import type { AssertionHeader } from '#gateway/forward/identity-headers.ts'
import type { RequestHeadInput } from '#gateway/forward/upstream-head.ts'
import { fieldsOf } from '#http/h1/field-lines.ts'
import { readTargetAddress, type TargetAddress } from '#http/outgoing/dial.ts'
import { fieldsIn } from '#http/request-head.ts'
import type { UpstreamConfig } from '#http/upstream/upstream-config.ts'
import { createCarriers } from '#identity/keys/carriers.ts'
import type { Principal } from '#identity/principal.ts'
import { secretPlaceholder } from '#platform/secrets/hide-secrets.ts'
import { foldHeaderName } from '#platform/text.ts'
import { createWriterFrom, ownHeaderNames } from '#runtime/assembly/gate-parts.ts'
import type { ShownHeader } from './explanation.ts'
import { type ExplainedArrival, perRequestValue } from './read-arrival.ts'
import { redactHeader } from './redact.ts'

interface ShownHead {
  readonly upstream: UpstreamConfig
  readonly arrival: ExplainedArrival
  readonly input: RequestHeadInput
  /** undefined = the request names none. */
  readonly secondTargets: SecondTargets | undefined
}

/** The headers that the upstream would receive, built by the same code as in the gateway. */
export function showUpstreamHead(
  config: Config,
  { upstream, arrival: { fields, outcome }, input, secondTargets }: ShownHead,
): readonly ShownHeader[] {
  const assertion = config.assertion.enabled ? assertionPlaceholder(config.assertion) : undefined
  const writer = createWriterFrom(config, createCarriers(config.keys.accept), assertion)
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
export function assertionPlaceholder({ header, lifetimeMs }: Config['assertion']): AssertionHeader {
  return {
    header,
    of: (_: Principal, audience) => `(signed by the gateway for ${audience}, ${lifetimeMs / 1_000} s)`,
  }
}

function hostFor(upstream: UpstreamConfig, fields: RequestFields): string {
  if (upstream.host === 'client') return fields.host ?? ''
  return [...new Set(addressesOf(upstream).map(({ authority }) => authority))].join(' or ')
}

export function addressesOf({ targets }: Pick<UpstreamConfig, 'targets'>): readonly TargetAddress[] {
  return targets.map(({ url }) => readTargetAddress(url))
}

export function parseLines(lines: string): readonly ShownHeader[] {
  // Decoded for the operator: on the wire each byte is one character.
  return Array.from(fieldsIn(fieldsOf(lines, 0, lines.length)), ([name, value]) => ({
    name,
    value: Buffer.from(value, 'latin1').toString(),
  }))
}
