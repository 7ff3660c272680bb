import { cleared } from '#gateway/browser/token-cookies.ts'
import type { NoticeKind } from '#platform/pages/html.ts'
import { noticeCookieName, type PortalCookies } from '../cookies.ts'
import type { PortalRequest } from '../portal-request.ts'
import type { Texts } from '../texts/texts.ts'
import type { PageNotice } from '../views/frame.ts'

/** Messages shown once, after a form was submitted: by name, so that nobody can inject a text. */
export type NoticeName = keyof Texts['notices']

/** The kind of each notice that is not `good`: `good` says that something was done. */
const otherKinds: Readonly<Partial<Record<NoticeName, NoticeKind>>> = {
  'session-over': 'info',
  'passkey-gone': 'info',
  'second-factor-none': 'info',
  'overlap-over': 'info',
  'key-replaced': 'warn',
  'secret-key-gone': 'info',
  'session-gone': 'info',
  'none-ticked': 'info',
  'subject-was-blocked': 'info',
  'subject-not-blocked': 'info',
  'receiver-new': 'info',
  'receiver-gone': 'info',
  'signed-in-again': 'info',
}

const lifetimeS = 60

/** Flash messages: a cookie carries the name of a notice to the next page. */
export function createFlashNotices({
  prefix,
  pathOf,
  isSecure,
}: Pick<PortalCookies, 'prefix' | 'pathOf' | 'isSecure'>) {
  const cookieName = `${prefix}${noticeCookieName}`
  const attributes = { path: pathOf(), httpOnly: true, secure: isSecure, sameSite: 'strict' } as const
  return {
    set: ({ cookies }: PortalRequest, name: NoticeName): void => {
      cookies.set(cookieName, name, { ...attributes, maxAge: lifetimeS })
    },
    /** Returns the pending notice, and clears it. */
    take: ({ cookies }: PortalRequest, { notices }: Texts): PageNotice | undefined => {
      const name = cookies.get(cookieName)
      if (name === undefined) return undefined
      cookies.set(cookieName, '', { ...attributes, ...cleared })
      return isNameIn(notices, name) ? { kind: otherKinds[name] ?? 'good', text: notices[name] } : undefined
    },
  }
}

function isNameIn(notices: Texts['notices'], name: string): name is NoticeName {
  return Object.hasOwn(notices, name)
}

export type FlashNotices = ReturnType<typeof createFlashNotices>
