import { cleared } from '#gateway/browser/token-cookies.ts'
import { parseJsonObject } from '#platform/json.ts'
import type { Sealer } from '#platform/secrets/sealing.ts'
import type { Clock } from '#platform/time.ts'
import type { PortalCookies } from './cookies.ts'
import type { CookieAttributes, PortalRequest } from './portal-request.ts'

/**
 * Cookies that only a gateway with the same sealing key can read and make, so that nothing has to be kept in memory.
 */
export type SealedCookies = ReturnType<typeof createSealedCookies>

interface SealedCookieAttributes extends Pick<CookieAttributes, 'sameSite'> {
  /** The path below the portal; default: the portal itself. */
  readonly path?: string
  readonly maxAgeS: number
}

/** Browsers keep 4,096 bytes, with name and attributes. */
const valueLengthMax = 3_800

export interface SealedCookieParts {
  readonly sealer: Sealer
  readonly cookies: PortalCookies
  readonly clock: Clock
}

export function createSealedCookies(
  sealer: Sealer,
  { prefix, pathOf, isSecure }: Pick<PortalCookies, 'prefix' | 'pathOf' | 'isSecure'>,
) {
  function attributesOf({ sameSite, path }: SealedCookieAttributes) {
    return { path: pathOf(path), httpOnly: true, secure: isSecure, sameSite } as const
  }

  return {
    /** @returns undefined if there is none, or it was not sealed as this cookie */
    read: (request: PortalRequest, name: string): Readonly<Record<string, unknown>> | undefined => {
      const text = request.cookies.get(prefix + name) ?? ''
      if (text === '' || text.length > valueLengthMax) return undefined
      const unsealed = sealer.unseal(Buffer.from(text, 'base64url'), purposeOf(name))
      return unsealed === undefined ? undefined : parseJsonObject(unsealed)
    },
    /** @returns false, without setting anything, if browsers would not keep it */
    set: (
      request: PortalRequest,
      name: string,
      value: object,
      attributes: SealedCookieAttributes,
    ): boolean => {
      const text = Buffer.from(sealer.seal(JSON.stringify(value), purposeOf(name))).toString('base64url')
      if (text.length > valueLengthMax) return false
      request.cookies.set(prefix + name, text, { ...attributesOf(attributes), maxAge: attributes.maxAgeS })
      return true
    },
    clear: (request: PortalRequest, name: string, attributes: SealedCookieAttributes): void => {
      if (request.cookies.get(prefix + name) === undefined) return
      request.cookies.set(prefix + name, '', { ...attributesOf(attributes), ...cleared })
    },
  }
}

/** What is sealed as one cookie cannot be used as another. */
function purposeOf(name: string): string {
  return `cookie:${name}`
}
