import type { Config } from '#config/config.ts'
import { createHeaderRules } from '#gateway/forward/header-rules.ts'
import { type AssertionHeader, createIdentityWriter } from '#gateway/forward/identity-headers.ts'
import { createRequestWriter, type RequestWriter } from '#gateway/forward/request-head.ts'
import { createLru } from '#identity/cache/lru.ts'
import type { Carriers } from '#identity/keys/carriers.ts'
import { type CachedAssertion, createAssertions } from '#identity/tokens/assertion.ts'
import type { Clock } from '#platform/clock.ts'
import { createConfiguredOwnCookies } from './browser-parts.ts'
import type { CallerAuth } from './caller-auth.ts'

interface RequestWriterParts {
  readonly config: Config
  readonly callerAuth: Pick<CallerAuth, 'keyring'>
  readonly clock: Clock
}

/** Maximum number of cached assertions, half a KiB each; beyond that some are signed more often. */
const assertionsMax = 10_000

/** The writer of heads for upstreams, by the names and rules of a config. */
export function createConfiguredWriter(
  parts: RequestWriterParts,
  carriers: Carriers,
  assertion = createAssertionHeader(parts),
): RequestWriter {
  const { config } = parts
  return createRequestWriter({
    rules: createHeaderRules(ownHeaderNames(config), carriers),
    writeIdentity: createIdentityWriter(config.identityHeaders),
    assertion,
    ownCookies: createConfiguredOwnCookies(config),
  })
}

/** The names of the headers that say who is calling: only the gateway sets them. */
export function ownHeaderNames({
  identityHeaders,
  assertion,
}: Pick<Config, 'identityHeaders' | 'assertion'>): readonly string[] {
  return [...Object.values(identityHeaders), assertion.header]
}

/** @returns undefined where assertions are disabled */
export function createAssertionHeader({
  config,
  callerAuth,
  clock,
}: RequestWriterParts): AssertionHeader | undefined {
  const { enabled, header, lifetimeMs } = config.assertion
  if (!enabled) return undefined
  const assertionCache = createLru<CachedAssertion>(assertionsMax)
  const { issuer } = config.tokens
  return {
    header,
    of: createAssertions({ keyring: callerAuth.keyring, cache: assertionCache, issuer, lifetimeMs, clock })
      .issue,
  }
}
