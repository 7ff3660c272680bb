import { lengthsOf } from '#http/h1/raw-headers.ts'
import type { ResponseCaching } from '../routes/route.ts'

/** A backend that sends one of these has said who may store its response, and for how long. */
const statements = new Set(['cache-control', 'expires', 'pragma'])

/** The lengths of the names that CachingLines has to be told of. */
export const cachingLengths: Uint8Array = lengthsOf(['vary', ...statements])

/** Collects what the backend says about caching one response, and writes what caches are told. */
export class CachingLines {
  readonly #caching: ResponseCaching
  #vary = ''
  #isStated = false

  constructor(caching: ResponseCaching) {
    this.#caching = caching
  }

  /** @param lower the name of a field @returns whether it is taken over: then it is not forwarded by itself */
  take(lower: string, value: string): boolean {
    if (lower === 'vary') {
      if (value.trim() !== '') this.#vary = this.#vary === '' ? value : `${this.#vary}, ${value}`
      return true
    }
    this.#isStated ||= statements.has(lower)
    return false
  }

  /** The response varies by one more request field. */
  addVary(name: string): void {
    this.#vary = this.#vary === '' ? name : mergedVary(this.#vary, [name])
  }

  /** The field lines, each ended by CR LF. @param isAuthenticated whether the response is one for this caller only */
  lines(isAuthenticated: boolean): string {
    const { names, varyLine, privateLines } = this.#caching
    const isPrivate = isAuthenticated && !this.#isStated
    if (this.#vary === '') return isPrivate ? privateLines : varyLine
    return `Vary: ${mergedVary(this.#vary, names)}\r\n${isPrivate ? 'Cache-Control: private\r\n' : ''}`
  }
}

/** The names of the backend, then those that it lacks; `*` is all there is (RFC 9110 12.5.5). */
function mergedVary(vary: string, names: readonly string[]): string {
  const known = new Set(vary.split(',').map((name) => name.trim().toLowerCase()))
  if (known.has('*')) return '*'
  return [vary, ...names.filter((name) => !known.has(name.toLowerCase()))].join(', ')
}
