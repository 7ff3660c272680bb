import { hash } from 'node:crypto'
import { cookieValuesIn } from './cookie-values.ts'

/** Counts, in a cookie, how often a browser was sent to the sign-in from the same page within some seconds. */
export interface VisitCounter {
  /** @param page what identifies the page */
  count(rawHeaders: readonly string[], page: string): Visit
}

export interface Visit {
  /** Whether signing in does not help: the browser would be sent to and fro for ever. */
  readonly isLoop: boolean
  /** The Set-Cookie line of the response, ended by CR LF. */
  readonly line: string
}

export interface VisitCounterOptions {
  /** Whether its cookie is Secure. */
  readonly isSecure: boolean
}

/** Of the cookie; no backend gets it. */
export const visitCookieName = 'gatehouse-visit'

/** A browser that keeps its cookie comes back once; browsers themselves give up after 20 redirects, two each time. */
const visitsMax = 5
/** Coming back takes a fraction of a second; a person who goes back and forth takes longer. */
const maxAgeS = 15
const pageLength = 12

export function createVisitCounter({ isSecure }: VisitCounterOptions): VisitCounter {
  // Lax: a visit from another site must be counted too.
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`

  return {
    count: (rawHeaders, page) => {
      const key = hash('sha256', page, 'base64url').slice(0, pageLength)
      const count = lastCount(rawHeaders, key) + 1
      const isLoop = count > visitsMax
      const cookie = isLoop
        ? `${visitCookieName}=; Max-Age=0; ${attributes}`
        : `${visitCookieName}=${key}.${count}; Max-Age=${maxAgeS}; ${attributes}`
      return { isLoop, line: `Set-Cookie: ${cookie}\r\n` }
    },
  }
}

/** How often the browser was sent away from this page last; 0 where it was another one. */
function lastCount(rawHeaders: readonly string[], key: string): number {
  const counts = cookieValuesIn(rawHeaders, visitCookieName)
    .filter((value) => value.startsWith(`${key}.`))
    .map((value) => value.slice(key.length + 1))
  return Number(counts.find((digits) => /^\d{1,2}$/.test(digits)) ?? 0)
}
