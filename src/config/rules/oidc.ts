import { findFieldErrors } from '#accounts/account-input.ts'
import { isSecureUrl } from '#identity/issuers/load-keys.ts'
import type { Review } from '../review.ts'
import { noProvision } from '../schema/portal.ts'

/** Checks how people sign in to the portal at an OpenID provider. */
export function reviewOidc(review: Review): void {
  const path = ['portal', 'oidc']
  if (!review.hasValidShape(path)) return
  const { oidc } = review.tree.portal
  if (!oidc) return
  const { issuer, clientSecret, provision, scopes } = oidc
  const isValid = (field: string) => review.isValid([...path, field])
  if (isValid('issuer')) reviewIssuer(review, [...path, 'issuer'], issuer)
  if (clientSecret && isValid('clientSecret')) review.secret([...path, 'clientSecret'], clientSecret)
  if (isValid('provision') && provision !== noProvision) {
    for (const { message } of findFieldErrors({ role: provision }))
      review.report([...path, 'provision'], `${message}, or none`)
  }
  if (isValid('scopes') && !scopes.includes('openid'))
    review.report([...path, 'scopes'], 'must have openid: without it no provider says who signs in')
}

function reviewIssuer(review: Review, path: readonly string[], issuer: string): void {
  const url = URL.parse(issuer)
  if (!isSecureUrl(issuer) || url?.search || url?.hash)
    review.report(path, 'must be an https:// URL without query and fragment (http:// only on this machine)')
}
