import { findFieldErrors, knownRoles, similarRole } from '#accounts/account-input.ts'
import { parseRequestTarget } from '#gateway/routes/request-target.ts'
import {
  contrastMin,
  contrastOn,
  imageKindOf,
  logoBytesMax,
  readableOn,
  type Theme,
} from '#portal/branding.ts'
import { adminRole } from '#store/accounts.ts'
import { hostProblem } from '../hosts.ts'
import { formatPath, type Path, type Warning } from '../problem.ts'
import { reviewCertificates } from '../schema/certificates.ts'
import { noProvision } from '../schema/portal.ts'
import type { ConfigReview, ConfigTree } from '../schema/schema.ts'
import { issuerUrlProblem } from './issuers.ts'

/** Checks the portal: its path, host, logo and colours, and the OpenID providers. */
export function reviewPortal(review: ConfigReview): void {
  if (review.isValid(['portal', 'path'])) {
    const { path } = review.tree.portal
    const isPlain = parseRequestTarget(path)?.path === path
    if (!isPlain) review.report(['portal', 'path'], 'must be a plain path without dot segments')
    else if (isReserved(path)) {
      review.report(['portal', 'path'], 'must not be at, above or below /api/v1 or /.well-known')
    }
  }
  reviewHost(review)
  reviewLogo(review)
  reviewColors(review)
  reviewOidc(review)
}

/** A host of the portal's own has nothing else: neither routes nor the origin that clients of the API use. */
function reviewHost(review: ConfigReview): void {
  if (!review.isValid(['portal', 'host'])) return
  const host = review.tree.portal.host?.toLowerCase()
  if (host === undefined) return
  const isPublic = review.isValid(['publicUrl']) && URL.parse(review.tree.publicUrl)?.hostname === host
  if (isPublic) review.report(['portal', 'host'], 'must not be the host of publicUrl')
  if (!review.hasValidShape(['routes'])) return
  for (const [index, route] of review.tree.routes.entries()) {
    review.check(['routes', index, 'host'], () =>
      route.host?.toLowerCase() === host ? 'is portal.host, which has no routes' : undefined,
    )
  }
}

function reviewLogo(review: ConfigReview): void {
  const path = ['portal', 'branding', 'logo']
  if (!review.isValid(path)) return
  const { logo } = review.tree.portal.branding
  const text = logo && review.secret(path, { file: logo.file, encoding: 'base64' })
  if (text === undefined) return
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length > logoBytesMax)
    review.report([...path, 'file'], `is larger than ${logoBytesMax / 1_024} KiB`)
  else if (!imageKindOf(bytes)) review.report([...path, 'file'], 'is not an SVG, PNG, JPEG or WebP image')
}

function reviewColors(review: ConfigReview): void {
  const reviewColor = (name: 'color' | 'darkColor', theme: Theme) => {
    const path = ['portal', 'branding', name]
    if (!review.isValid(path)) return
    const color = review.tree.portal.branding[name]
    if (color === undefined || contrastOn(theme, color) >= contrastMin) return
    // Rounded down: a ratio that is too small must not look sufficient.
    const ratio = Math.floor(contrastOn(theme, color) * 100) / 100
    const hint =
      theme === 'light' && contrastOn('dark', color) >= contrastMin ? '; keep this one as darkColor' : ''
    review.report(
      path,
      `has a contrast of ${ratio}:1 on ${theme} pages, where text needs ${contrastMin}:1 (WCAG AA): use ${readableOn(theme, color)}${hint}`,
    )
  }
  reviewColor('color', 'light')
  reviewColor('darkColor', 'dark')
}

/** Checks the server that mails are sent by, and whom they are from. */
export function reviewMail(review: ConfigReview): void {
  const { mail } = review.tree
  if (!mail || !review.hasValidShape(['mail'])) return
  const isValid = (...fields: readonly string[]) => review.isValid(['mail', ...fields])
  review.check(['mail', 'host'], () => hostProblem(mail.host))
  if (mail.password && isValid('password')) review.secret(['mail', 'password'], mail.password)
  const isPaired = (mail.username === undefined) === (mail.password === undefined)
  if (!isPaired && isValid('username') && isValid('password')) {
    review.report(['mail'], 'username and password go together')
  }
  if (isValid('from') && !/^[^\s<>@]+@[^\s<>@]+$/.test(mail.from)) {
    review.report(['mail', 'from'], 'must be an e-mail address such as gatehouse@example.com')
  }
  if (isValid('tls', 'ca')) reviewCertificates(review, ['mail', 'tls', 'ca'], mail.tls.ca)
}

function isReserved(path: string): boolean {
  const isAtOrBelow = (one: string, other: string) => `${one}/`.startsWith(`${other}/`)
  return ['/api/v1', '/.well-known'].some((own) => isAtOrBelow(path, own) || isAtOrBelow(own, path))
}

type ProviderTree = Extract<ConfigTree['portal']['oidc'], readonly unknown[]>[number]

/** The OpenID providers of the portal, each with its path: of the map, or in the list. */
function oidcProviders({
  portal: { oidc },
}: Pick<ConfigTree, 'portal'>): readonly (readonly [Path, ProviderTree])[] {
  const path = ['portal', 'oidc']
  const isList = Array.isArray(oidc)
  return [oidc].flat().map((provider, index) => [isList ? [...path, index] : path, provider])
}

/** Checks how people sign in to the portal at OpenID providers. */
function reviewOidc(review: ConfigReview): void {
  if (!review.hasValidShape(['portal', 'oidc'])) return
  const providers = oidcProviders(review.tree).filter(([path]) => review.hasValidShape(path))
  for (const [path, provider] of providers) reviewProvider(review, path, provider)
  for (const option of ['name', 'issuer', 'label'] as const) reviewDuplicates(review, providers, option)
}

/** What tells providers apart: for the gateway, for accounts, and for people. */
function reviewDuplicates(
  review: ConfigReview,
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
  review: ConfigReview,
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

/** A sign-in without a portal, and roles of accounts created at a sign-in that are probably not intended. */
export function findOidcProblems(tree: Pick<ConfigTree, 'portal' | 'routes'>): Warning[] {
  const providers = oidcProviders(tree)
  if (providers.length > 0 && !tree.portal.enabled)
    return [{ path: ['portal', 'oidc'], message: 'has no effect: portal.enabled is false' }]
  return providers.flatMap(([path, { provision }]): Warning[] => {
    const option = [...path, 'provision']
    if (provision === adminRole) {
      const message = 'makes everybody who can sign in at the provider an Admin, who manages all accounts'
      return [{ path: option, message }]
    }
    const similar = similarRole(provision, [...knownRoles(tree.routes), noProvision])
    const message = `"${provision}" is not "${similar}": it is case-sensitive`
    return similar === undefined ? [] : [{ path: option, message }]
  })
}
