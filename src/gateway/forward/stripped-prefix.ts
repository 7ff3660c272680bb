import { isNamed } from '#http/h1/raw-headers.ts'
import { parseRequestTarget } from '../routes/request-target.ts'
import type { Route } from '../routes/route.ts'

/** What was removed from the front of the client's path, so that the backend does not see it. */
export interface StrippedPrefix {
  /** By this gateway: `/orders`. */
  readonly own: string
  /** By trusted proxies before it: `/outer`; empty = nothing. */
  readonly outer: string
}

/** @returns undefined where the route strips nothing */
export function readStrippedPrefix(
  route: Pick<Route<unknown>, 'stripPrefix' | 'prefix'>,
  rawHeaders: readonly string[],
  isTrusted: boolean,
): StrippedPrefix | undefined {
  if (!route.stripPrefix || route.prefix === '') return undefined
  return { own: route.prefix, outer: isTrusted ? readOuterPrefix(rawHeaders) : '' }
}

/** The value of X-Forwarded-Prefix for the backend: one path, as backends put it before their own. */
export function forwardedPrefix({ own, outer }: StrippedPrefix): string {
  return outer + own
}

/** The path for the client of a path of the backend, which begins with `/`. */
export function withPrefix(path: string, { own, outer }: StrippedPrefix): string {
  // A backend that honours X-Forwarded-Prefix, or knows where it is published, has added it itself.
  if (outer !== '' && isBelow(path, outer + own)) return path
  return isBelow(path, own) ? outer + path : outer + own + path
}

/** Whether a path, with or without a query, is a prefix or below it. */
export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && /^(?:[/?#]|$)/.test(path.slice(prefix.length))
}

/** Each proxy of a chain adds what it stripped, as a further field or item of a list. */
function readOuterPrefix(rawHeaders: readonly string[]): string {
  let outer = ''
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (!isNamed(rawHeaders[index], 'x-forwarded-prefix')) continue
    for (const part of (rawHeaders[index + 1] ?? '').split(',')) {
      const prefix = part.trim().replace(/\/$/, '')
      if (prefix !== '' && !isPlainPath(prefix)) return ''
      outer += prefix
    }
  }
  return outer
}

/** The backend builds URLs from it: it must not become another host, or leave the path. */
function isPlainPath(prefix: string): boolean {
  if (!prefix.startsWith('/') || !/^[A-Za-z0-9\-._~!$&'()*+;=:@%/]+$/.test(prefix)) return false
  const target = parseRequestTarget(prefix)
  return target !== undefined && !target.hasEncodedSlash && !target.hasParameters
}
