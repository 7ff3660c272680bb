import { createClientCertificateReader } from '#gateway/arrival/client-certificate-reader.ts'
import { createAmbientKeyCheck } from '#gateway/browser/ambient-credentials.ts'
import { createPossessionCheck } from '#gateway/gate/possession.ts'
import { createKeyHeaderReader } from '#gateway/gate/route-credentials.ts'
import { createCarriers } from '#identity/carriers.ts'
import { createPlanLimits } from '#identity/limits/plans.ts'
import { createProofNonces, createProofs } from '#identity/proofs.ts'
import type { CallerAuth } from './caller-auth.ts'
import type { ConfigParts } from './store-parts.ts'

/** What the gate checks of a request by itself: for the gateway, its own endpoints, apps and `explain`. */
export function createGateChecks({
  config,
  sealingKeys,
  proofReplays,
  clock,
}: Pick<ConfigParts, 'config' | 'sealingKeys' | 'proofReplays' | 'clock'>) {
  const { dpop, failures, keys, publicOrigin, tokens } = config
  const lifetimeMs = dpop.proofLifetimeMs
  const proofs = createProofs({
    replays: proofReplays,
    nonces: dpop.nonce ? createProofNonces(sealingKeys, lifetimeMs, clock) : undefined,
    lifetimeMs,
    clockToleranceMs: tokens.clockToleranceMs,
    clock,
  })
  const readClientCertificate = createClientCertificateReader(config.clientCertificateHeader, clock)
  return {
    failures,
    proofs,
    readClientCertificate,
    checkPossession: createPossessionCheck({ proofs, readClientCertificate, publicOrigin }),
    /** For routes: pages of `cors.origins` may use keys that browsers send by themselves. */
    checkAmbientKey: createAmbientKeyCheck({ publicOrigin, origins: config.cors.origins }),
    /** For routes whose Authorization field belongs to the backend. */
    readKeyHeaders: createKeyHeaderReader(createCarriers(keys.accept), tokens.issuer),
  }
}

/** The parts of the gate that the gateway and apps have in common, among them its checks. */
export function createGateParts(parts: ConfigParts, { authenticator }: Pick<CallerAuth, 'authenticator'>) {
  const { config, limiter, quotas, metrics, keyUses, log } = parts
  return {
    ...createGateChecks(parts),
    authenticator,
    limiter,
    takePlanLimits: createPlanLimits({
      plans: config.plans,
      limiter,
      quotas,
      onUnknown: (plan) =>
        log.warn({ plan }, 'accounts have a plan that is not in the config: they are not limited'),
      unknownPlanRequests: metrics.unknownPlanRequests,
    }),
    metrics,
    keyUses,
  }
}
