import { everyOrigin } from '#gateway/arrival/cors.ts'
import { refreshTokenPath } from '#gateway/routes/own-operations.ts'
import { parseOrigin } from '../hosts.ts'
import type { Path, Warning } from '../problem.ts'
import { choice, either, exactly, headerName, list, section, text, trueOrFalse } from './fields.ts'
import { convertResolved, type ValueOf } from './node.ts'
import type { Review } from './review.ts'

export const cookiePath = (usual: string, description: string) =>
  text({ pattern: '^/[!-:<-~]*$', default: usual, description })

export const cookie = section('The cookie that carries the refresh token.', {
  name: headerName({
    default: 'refreshToken',
    description: 'Its name; one that begins with __Host- or __Secure- must meet the rules of that prefix.',
  }),
  path: cookiePath(
    '/api/v1/accounts',
    'Path attribute: browsers send the cookie to refresh-token and revoke-token only if these are at or below it.',
  ),
  sameSite: choice(['Strict', 'Lax', 'None'], { default: 'Strict', description: 'SameSite attribute.' }),
  secure: either(exactly('auto'), trueOrFalse, {
    default: 'auto',
    description: 'Secure attribute: true, false, or auto = when publicUrl is https.',
  }),
})

export const cors = convertResolved(
  section('Which web pages from other origins may call the gateway from a browser.', {
    origins: list(
      text({ description: 'An origin, exactly: scheme://host, with a port where it has one; or *.' }),
      {
        default: [],
        maxItems: 1_000,
        description:
          'Allowed origins; an empty list leaves CORS to the upstreams, whose CORS headers are forwarded unchanged. `*` alone allows every origin, without cookies.',
      },
    ),
  }),
  ({ origins }) => ({
    origins: origins.flatMap((text) => parseOrigin(text) ?? []),
    allowsAny: origins.includes(everyOrigin),
  }),
)

/** What the rules about browsers read. */
export interface BrowsersTree {
  readonly publicUrl: string
  readonly cookie: ValueOf<typeof cookie>
  readonly cors: ValueOf<typeof cors>
}

/** The start of the names of the portal's own cookies, with or without a prefix. */
const portalNames = /^(?:__secure-|__host-)?gatehouse-/i

/** Reports a cookie that browsers would drop because it breaks the rules of its name (RFC 6265bis 4.1.3). */
export function reviewCookie(review: Review<BrowsersTree>): void {
  if (!review.hasValidShape(['cookie'])) return
  const { cookie } = review.tree
  reviewCookieName(review, ['cookie'], cookie)
  const at = ['cookie', 'sameSite']
  if (review.isValid(at) && cookie.sameSite === 'None' && !isSecureOrUnknown(review))
    review.report(at, 'None needs secure: true, or an https publicUrl')
}

/** Whether a browser sends a cookie of this path to all paths below another (RFC 6265bis 5.1.4). */
export function isAtOrBelow(path: string, cookiePath: string): boolean {
  return `${path}/`.startsWith(cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`)
}

/** Reports a name that the portal may use, or whose prefix requires attributes that the section's cookie lacks. */
export function reviewCookieName(
  review: Review<BrowsersTree>,
  section: Path,
  { name, path }: { readonly name: string; readonly path: string },
): void {
  const isValid = (field: string) => review.isValid([...section, field])
  if (isValid('name') && portalNames.test(name)) {
    review.report([...section, 'name'], `"${name}" could be a cookie of the portal: choose another name`)
  }
  if (isValid('name') && /^__(host|secure)-/i.test(name) && !isSecureOrUnknown(review)) {
    const secure = section[0] === 'cookie' ? 'secure: true' : 'cookie.secure: true'
    review.report([...section, 'name'], `"${name}" needs ${secure}, or an https publicUrl`)
  }
  if (isValid('name') && isValid('path') && /^__host-/i.test(name) && path !== '/') {
    review.report([...section, 'path'], `must be / for a name that begins with __Host-`)
  }
}

/** Whether the cookie is Secure, or may be, because the option that decides it is itself invalid. */
function isSecureOrUnknown({ tree, isValid }: Review<BrowsersTree>): boolean {
  if (!isValid(['cookie', 'secure'])) return true
  const { secure } = tree.cookie
  if (secure !== 'auto') return secure
  return !isValid(['publicUrl']) || URL.parse(tree.publicUrl)?.protocol === 'https:'
}

/** Origins are exact, or `*` alone. */
export function reviewCors(review: Review<BrowsersTree>): void {
  if (!review.hasValidShape(['cors', 'origins'])) return
  const seen = new Set<string>()
  for (const [index, text] of review.tree.cors.origins.entries()) {
    const path = ['cors', 'origins', index]
    if (!review.isValid(path)) continue
    if (text === everyOrigin) {
      if (review.tree.cors.origins.length > 1)
        review.report(path, 'stands for every origin, without cookies: it must be the only entry')
      continue
    }
    const origin = parseOrigin(text)
    if (origin === undefined) review.report(path, corsOriginProblem(text))
    else if (seen.has(origin)) review.report(path, `${origin} is already in the list`)
    else seen.add(origin)
  }
}

function corsOriginProblem(text: string): string {
  const form = 'an origin such as https://app.example.com'
  if (text.includes('*')) {
    return `must be ${form}: the only wildcard is * alone, which allows any origin, without cookies`
  }
  if (text.toLowerCase() === 'null') return `must be ${form}: any page can send the origin null`
  return `must be ${form}: a scheme, a host, a port where it has one, and no path`
}

/**
 * A refresh cookie that browsers send to `refresh-token` only through a proxy that mounts the gateway below a prefix.
 */
export function findUnsentCookie({ cookie: { path } }: BrowsersTree): Warning[] {
  if (isAtOrBelow(refreshTokenPath, path)) return []
  const message = `is not at or above ${refreshTokenPath}: browsers do not send the cookie there, unless a proxy in front adds a prefix`
  return [{ path: ['cookie', 'path'], message }]
}
