import { type SignIn, signInStatus } from '#gateway/browser/sign-in.ts'
import { continuePath } from '#gateway/browser/sign-in-return.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import type { StepResult } from './explanation.ts'
import { redactTarget } from './redact.ts'

/** A refused page visit that is led to the sign-in. @param refusal what a client other than a browser would be told */
export function describeSignIn(
  { portalUrl, returnPath }: SignIn,
  { code, reason }: { readonly code: ErrorCode; readonly reason: string },
): StepResult {
  const location = portalUrl + continuePath
  // Without its query: that is new for each browser where the portal has a host of its own, and may hold secrets.
  const returnTo = returnPath === '' ? null : redactTarget(decodeURIComponent(returnPath))
  const back = returnTo === null ? '' : `, and then back to ${returnTo}`
  return {
    detail: `a page visit, led to the sign-in: ${signInStatus}, Location: ${location}${back} (${code}: ${reason})`,
    facts: { code, location, returnTo },
  }
}
