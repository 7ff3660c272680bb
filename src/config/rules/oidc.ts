import { findFieldErrors } from '#accounts/account-input.ts'
import { formatPath, type Path } from '../problem.ts'
import type { Review } from '../review.ts'
import { noProvision } from '../schema/portal.ts'
import type { ConfigTree } from '../schema/schema.ts'
import { issuerUrlProblem } from './issuers.ts'

type ProviderTree = Extract<ConfigTree['portal']['oidc'], readonly unknown[]>[number]

/** The OpenID providers of the portal, each with its path: of the map, or in the list. */
export function oidcProviders({
  portal: { oidc },
}: Pick<ConfigTree, 'portal'>): readonly (readonly [Path, ProviderTree])[] {
  const path = ['portal', 'oidc']
  const isList = Array.isArray(oidc)
  return [oidc].flat().map((provider, index) => [isList ? [...path, index] : path, provider])
}

/** Checks how people sign in to the portal at OpenID providers. */
export function reviewOidc(review: Review): void {
  if (!review.hasValidShape(['portal', 'oidc'])) return
  const providers = oidcProviders(review.tree).filter(([path]) => review.hasValidShape(path))
  for (const [path, provider] of providers) reviewProvider(review, path, provider)
  for (const option of ['name', 'issuer', 'label'] as const) reviewDuplicates(review, providers, option)
}

/** What tells providers apart: for the gateway, for accounts, and for people. */
function reviewDuplicates(
  review: Review,
  providers: readonly (readonly [Path, ProviderTree])[],
  option: 'name' | 'issuer' | 'label',
): void {
  const seen = new Map<string | undefined, Path>()
  for (const [path, { [option]: value }] of providers) {
    const before = seen.get(value)
    seen.set(value, path)
    if (!before || !review.isValid([...path, option])) continue
    const other = formatPath(before)
    if (value === undefined)
      review.report([...path, option], `is missing here and in ${other}: only one provider may have no name`)
    else review.report([...path, option], `is the same as in ${other}: it must differ for each provider`)
  }
}

function reviewProvider(
  review: Review,
  path: Path,
  { issuer, clientSecret, provision, scopes }: ProviderTree,
): void {
  const isValid = (field: string) => review.isValid([...path, field])
  review.check([...path, 'issuer'], () => issuerUrlProblem(issuer))
  if (clientSecret && isValid('clientSecret')) review.secret([...path, 'clientSecret'], clientSecret)
  if (isValid('provision') && provision !== noProvision) {
    for (const { message } of findFieldErrors({ role: provision }))
      review.report([...path, 'provision'], `${message}, or none`)
  }
  if (isValid('scopes') && !scopes.includes('openid'))
    review.report(
      [...path, 'scopes'],
      'must include openid: without it, the provider does not say who signs in',
    )
}
