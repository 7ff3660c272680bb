import { hash } from 'node:crypto'
import { randomText } from '#platform/secrets/format.ts'
import { cookieValuesIn } from './cookie-values.ts'

/**
 * What binds a sign-in on another host to the browser that began it: a random key in a cookie of the host of the page,
 * of which the other host only learns the digest (as PKCE does it, RFC 7636).
 */
export interface HandOverKeys {
  /** The key of the browser, or a new one. */
  readOrCreate(rawHeaders: readonly string[]): HandOverKey
  /** undefined where the browser has none, or more than one: another host of the domain may have set one. */
  read(rawHeaders: readonly string[]): string | undefined
  /** The Set-Cookie value that removes it. */
  readonly cleared: string
}

export interface HandOverKey {
  readonly challenge: string
  /** The Set-Cookie line of the response, ended by CR LF. */
  readonly line: string
}

const plainName = 'gatehouse-return'
/** No backend gets or sets them. */
export const handOverCookieNames: readonly string[] = [plainName, `__Host-${plainName}`]

const keyLength = 43
const keyPattern = /^[0-9A-Za-z]{43}$/
const challengePattern = /^[\w-]{43}$/
/** Time to sign in, with a provider and a second factor. */
const maxAgeS = 600

/** @param isSecure whether publicUrl is https: then no other host can set the cookie */
export function createHandOverKeys(isSecure: boolean): HandOverKeys {
  const name = isSecure ? `__Host-${plainName}` : plainName
  // Lax: the browser comes back from another host, which may be of another site.
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`

  function read(rawHeaders: readonly string[]): string | undefined {
    const [key, ...others] = cookieValuesIn(rawHeaders, name)
    return others.length === 0 && key !== undefined && keyPattern.test(key) ? key : undefined
  }

  return {
    read,
    // Several tabs share it, so that none of them spoils the sign-in of another.
    readOrCreate: (rawHeaders) => {
      const key = read(rawHeaders) ?? randomText(keyLength)
      return {
        challenge: challengeOf(key),
        line: `Set-Cookie: ${name}=${key}; Max-Age=${maxAgeS}; ${attributes}\r\n`,
      }
    },
    cleared: `${name}=; Max-Age=0; ${attributes}`,
  }
}

export function challengeOf(key: string): string {
  return hash('sha256', key, 'base64url')
}

export function isChallenge(text: string): boolean {
  return challengePattern.test(text)
}
