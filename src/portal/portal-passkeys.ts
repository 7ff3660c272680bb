import type { Passkeys } from '#identity/second-factor/passkeys.ts'
import type { Viewer } from '#identity/tokens/issued-tokens.ts'
import { passkeysOf } from '#store/portal-access.ts'
import { passkeyConfirmationCookieName } from './cookies.ts'
import type { PortalRequest } from './portal-request.ts'
import { createSealedCookies, type SealedCookieParts } from './sealed-cookies.ts'
import type { FramePasskeys } from './views/frame.ts'

/** Passkeys, and which viewers have just used one instead of password and code. */
export interface PortalPasskeys extends Passkeys {
  /** Records that the viewer has used a passkey. */
  confirm(request: PortalRequest, viewer: Viewer): void
  /** Whether the viewer has used a passkey within the last `confirmationMs`. */
  isConfirmed(request: PortalRequest, viewer: Viewer): boolean
}

const confirmationMs = 300_000
const attributes = { sameSite: 'strict', maxAgeS: confirmationMs / 1_000 } as const

export function createPortalPasskeys(
  passkeys: Passkeys,
  { sealer, cookies, clock }: SealedCookieParts,
): PortalPasskeys {
  const sealed = createSealedCookies(sealer, cookies)
  return {
    ...passkeys,
    confirm: (request, { session }) => {
      const value = { session: session.id, at: clock() }
      sealed.set(request, passkeyConfirmationCookieName, value, attributes)
    },
    isConfirmed: (request, { account, session }) => {
      const { session: id, at } = sealed.read(request, passkeyConfirmationCookieName) ?? {}
      const isRecent = typeof at === 'number' && Math.abs(clock() - at) < confirmationMs
      return isRecent && id === session.id && passkeysOf(account.portal).length > 0
    },
  }
}

/** What the views need to know about passkeys. @param path of the page, below the portal */
export function framePasskeysOf(
  passkeys: PortalPasskeys,
  request: PortalRequest,
  { viewer, path }: { readonly viewer: Viewer | undefined; readonly path: string },
): FramePasskeys {
  return {
    origin: passkeys.origin,
    canConfirm: viewer !== undefined && passkeysOf(viewer.account.portal).length > 0,
    isConfirmed: viewer !== undefined && passkeys.isConfirmed(request, viewer),
    path,
  }
}
