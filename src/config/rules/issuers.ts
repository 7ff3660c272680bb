import { isSecureUrl } from '#identity/issuers/issuer.ts'
import { parsePublicKeys } from '#identity/issuers/public-keys.ts'
import { isRedirectUri } from '#identity/issuers/redirect-uris.ts'
import { errorMessage } from '#platform/errors/operator-error.ts'
import { parseJson } from '#platform/json.ts'
import { didYouMean } from '#platform/text.ts'
import { listedMax, type Path } from '../problem.ts'
import type { ConfigReview, ConfigTree } from '../schema/schema.ts'

type IssuerTree = ConfigTree['issuers'][number]
type RouteTree = ConfigTree['routes'][number]

/** Checks foreign issuers, and the routes that name them. */
export function reviewIssuers(review: ConfigReview): void {
  if (!review.hasValidShape(['issuers'])) return
  const { issuers } = review.tree
  for (const [index, issuer] of issuers.entries()) {
    const at = ['issuers', index]
    if (!review.hasValidShape(at)) continue
    reviewIssuerUrl(review, [...at, 'issuer'], issuer)
    if (review.hasValidShape([...at, 'jwks'])) reviewKeySource(review, [...at, 'jwks'], issuer)
    if (review.hasValidShape([...at, 'introspection'])) reviewIntrospection(review, at, issuer)
    reviewRegistration(review, [...at, 'registration', 'redirectUris'], issuer)
    reviewAudience(review, at, issuer)
    reviewPlan(review, [...at, 'plan'], issuer)
  }
  for (const field of ['name', 'issuer'] as const)
    review.checkUnique(
      issuers.map((_, index) => ['issuers', index, field]),
      (value) => `duplicate ${field} "${value}"`,
    )
  reviewRoutes(review)
}

function reviewIssuerUrl(review: ConfigReview, path: Path, { issuer }: IssuerTree): void {
  review.check(path, () => {
    const problem = issuerUrlProblem(issuer)
    if (problem !== undefined) return problem
    return issuer === (review.tree.tokens.issuer ?? URL.parse(review.tree.publicUrl)?.origin)
      ? 'is the issuer of the tokens of this gateway (tokens.issuer)'
      : undefined
  })
}

export function issuerUrlProblem(issuer: string): string | undefined {
  const url = URL.parse(issuer)
  return !isSecureUrl(issuer) || url?.search || url?.hash
    ? 'must be an https:// URL without query and fragment (http:// only on this machine)'
    : undefined
}

/** Without an audience, anybody with any token of the issuer is admitted, so something else must restrict them. */
function reviewAudience(review: ConfigReview, at: Path, { audience, require }: IssuerTree): void {
  if (audience !== undefined || !review.isValid([...at, 'audience']) || !review.isValid([...at, 'require']))
    return
  const pins = Object.values(require).some((values) => values.every((value) => !/^\**$/.test(value)))
  if (!pins)
    review.report(
      [...at, 'audience'],
      'is missing; it may be left out only where require names a claim with values other than *',
    )
}

function reviewPlan(review: ConfigReview, path: Path, { plan }: IssuerTree): void {
  if (plan === undefined || !review.isValid(path) || !review.hasValidShape(['plans'])) return
  const names = Object.keys(review.tree.plans)
  if (!names.includes(plan)) review.report(path, `unknown plan "${plan}"${didYouMean(plan, names)}`)
}

function reviewKeySource(review: ConfigReview, path: Path, { jwks, algorithms }: IssuerTree): void {
  if (jwks === undefined) return
  if ((jwks.url === undefined) === (jwks.file === undefined)) {
    review.report(path, 'set exactly one of url and file, or neither: without jwks the keys are discovered')
    return
  }
  const [url, file] = [
    [...path, 'url'],
    [...path, 'file'],
  ]
  if (jwks.url !== undefined && review.isValid(url) && !isSecureUrl(jwks.url))
    review.report(url, 'must be an https:// URL (http:// only on this machine)')
  if (jwks.file === undefined || !review.isValid(file)) return
  const text = review.secret(file, { file: jwks.file })
  if (text === undefined || !review.isValid([...path.slice(0, -1), 'algorithms'])) return
  try {
    parsePublicKeys(parseJson(text), algorithms)
  } catch (error) {
    review.report(file, errorMessage(error))
  }
}

/** Its URL may be http:// in a network of one's own, of which `check` warns. */
function reviewIntrospection(
  review: ConfigReview,
  at: Path,
  { introspection, jwks, ...issuer }: IssuerTree,
): void {
  if (introspection === undefined) return
  const path = [...at, 'introspection']
  const url = URL.parse(introspection.url)
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (review.isValid([...path, 'url']) && (!url || !isHttp || url.username || url.password || url.hash))
    review.report([...path, 'url'], 'must be an https:// URL without user, password and fragment')
  if (review.isValid([...path, 'clientSecret']))
    review.secret([...path, 'clientSecret'], introspection.clientSecret)
  if (jwks === undefined && review.isValid([...at, 'tokenType']) && issuer.tokenType !== 'any')
    review.report(
      [...at, 'tokenType'],
      'needs jwks: without it, all tokens of the issuer are checked by introspection',
    )
}

function reviewRegistration(review: ConfigReview, path: Path, { registration }: IssuerTree): void {
  if (registration === undefined || !review.hasValidShape(path)) return
  for (const [index, uri] of registration.redirectUris.entries()) {
    review.check([...path, index], () =>
      isRedirectUri(uri)
        ? undefined
        : 'must be an https:// URL, http:// on this machine, or a URL of an application, such as com.example.app:/callback; without user, password and fragment',
    )
  }
}

function reviewRoutes(review: ConfigReview): void {
  if (!review.hasValidShape(['routes'])) return
  for (const [index, route] of review.tree.routes.entries()) {
    const at = ['routes', index]
    if (!review.hasValidShape([...at, 'issuers'])) continue
    reviewNames(review, [...at, 'issuers'], route)
    if (review.isValid([...at, 'auth'])) reviewAuth(review, [...at, 'issuers'], route)
    if (review.isValid([...at, 'scopes'])) reviewScopes(review, [...at, 'issuers'], route)
    reviewAsked(review, [...at, 'issuers'], route)
  }
}

function reviewNames(review: ConfigReview, path: Path, { issuers }: RouteTree): void {
  const names = review.tree.issuers.map(({ name }) => name)
  let unknown = 0
  for (const [position, name] of issuers.entries()) {
    if (!review.isValid([...path, position]) || names.includes(name)) continue
    const hint =
      unknown++ < listedMax
        ? didYouMean(
            name,
            names.filter((one) => typeof one === 'string'),
          )
        : ''
    review.report([...path, position], `unknown issuer "${name}"${hint}`)
  }
}

function reviewAuth(review: ConfigReview, path: Path, { issuers, auth }: RouteTree): void {
  if (issuers.length > 0 && (auth === 'none' || auth === 'secretKey' || auth === 'deny'))
    review.report(path, `cannot be combined with auth: ${auth}, which accepts no bearer tokens`, 'key')
}

/** Otherwise no token of the issuer would ever be accepted, without an explanation. */
function reviewScopes(review: ConfigReview, path: Path, { issuers, scopes }: RouteTree): void {
  if (scopes === undefined) return
  for (const [position, name] of issuers.entries()) {
    const issuer = review.tree.issuers.find((one) => one.name === name)
    if (issuer && issuer.scopes === undefined && review.isValid([...path, position]))
      review.report(
        [...path, position],
        `the route names scopes, but tokens of "${name}" have none: set scopes of the issuer`,
      )
  }
}

/** A token that is not a JWT does not say which issuer it is from, and no issuer may be told the tokens of another. */
function reviewAsked(review: ConfigReview, path: Path, { issuers }: RouteTree): void {
  const asked = issuers.filter((name) =>
    review.tree.issuers.some((issuer) => issuer.name === name && issuer.introspection !== undefined),
  )
  for (const name of asked.slice(1))
    review.report(
      [...path, issuers.indexOf(name)],
      `a route can name only one issuer with introspection, and names "${asked[0]}" too: a token that is not a JWT does not say which issuer it is from`,
    )
}
