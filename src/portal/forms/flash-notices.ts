import type { NoticeKind } from '#platform/pages/html.ts'
import type { PortalRequest } from '../portal-request.ts'
import type { Texts } from '../texts/texts.ts'
import type { PageNotice } from '../views/frame.ts'

/** Messages shown once, after a form was submitted: by name, so that nobody can inject a text. */
const kinds: Readonly<Record<NoticeName, NoticeKind>> = {
  'signed-out': 'good',
  'signed-out-everywhere': 'good',
  'session-over': 'info',
  welcome: 'good',
  'password-changed': 'good',
  'password-set': 'good',
  'set-up-link-mailed': 'good',
  'second-factor-off': 'good',
  'app-removed': 'good',
  'passkey-added': 'good',
  'passkey-renamed': 'good',
  'passkey-removed': 'good',
  'passkey-gone': 'info',
  'second-factor-reset': 'good',
  'second-factor-none': 'info',
  'name-saved': 'good',
  'language-saved': 'good',
  'link-sent': 'good',
  'email-verified': 'good',
  'overlap-ended': 'good',
  'overlap-over': 'info',
  'key-replaced': 'warn',
  'certificate-added': 'good',
  'secret-key-renamed': 'good',
  'secret-key-revoked': 'good',
  'secret-key-ends': 'good',
  'secret-key-gone': 'info',
  'session-ended': 'good',
  'session-gone': 'info',
  'sessions-ended': 'good',
  'account-saved': 'good',
  'accounts-changed': 'good',
  'none-ticked': 'info',
  'account-verified': 'good',
  'account-unverified': 'good',
  'account-disabled': 'good',
  'account-enabled': 'good',
  'account-taken-over': 'good',
  'account-unlinked': 'good',
  'subject-blocked': 'good',
  'subject-was-blocked': 'info',
  'subject-unblocked': 'good',
  'subject-not-blocked': 'info',
  'events-retried': 'good',
  'receiver-new': 'info',
  'receiver-gone': 'info',
  'account-deleted': 'good',
  'signed-in-again': 'info',
}

export type NoticeName = keyof Texts['notices']

const cookieName = 'gatehouse-notice'
const lifetimeS = 60

interface NoticeCookieOptions {
  readonly path: string
  readonly isSecure: boolean
}

/** Flash messages: a cookie carries the name of a notice to the next page. */
export function createFlashNotices({ path, isSecure }: NoticeCookieOptions) {
  const attributes = { path, httpOnly: true, secure: isSecure, sameSite: 'strict' } as const
  return {
    set: ({ cookies }: PortalRequest, name: NoticeName): void => {
      cookies.set(cookieName, name, { ...attributes, maxAge: lifetimeS })
    },
    /** Returns the pending notice, and clears it. */
    take: ({ cookies }: PortalRequest, { notices }: Texts): PageNotice | undefined => {
      const name = cookies.get(cookieName)
      if (name === undefined) return undefined
      cookies.set(cookieName, '', { ...attributes, maxAge: 0, expires: new Date(0) })
      return isNoticeName(name) ? { kind: kinds[name], text: notices[name] } : undefined
    },
  }
}

function isNoticeName(name: string): name is NoticeName {
  return Object.hasOwn(kinds, name)
}

export type FlashNotices = ReturnType<typeof createFlashNotices>
