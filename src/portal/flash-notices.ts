import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PageNotice } from './views/frame.ts'

/** Messages that a page can show once, after a form on the page before: by name, so that nobody can inject a text. */
const notices = {
  'signed-out': { kind: 'good', text: 'You are signed out.' },
  'signed-out-everywhere': { kind: 'good', text: 'You are signed out everywhere.' },
  'session-over': { kind: 'info', text: 'Your session has ended. Sign in again.' },
  welcome: { kind: 'good', text: 'Your password is set, and you are signed in.' },
  'password-changed': { kind: 'good', text: 'The password has been changed. Other browsers are signed out.' },
  'name-saved': { kind: 'good', text: 'The name has been saved.' },
  'link-sent': { kind: 'good', text: 'A link has been sent. Open it to confirm the e-mail.' },
  'email-verified': { kind: 'good', text: 'The e-mail is verified.' },
  'overlap-ended': { kind: 'good', text: 'The old secret has ended.' },
  'overlap-over': { kind: 'info', text: 'The old secret had ended already.' },
  'key-replaced': {
    kind: 'warn',
    text: 'This key has been replaced in the meantime; it was not reset again.',
  },
  'session-ended': { kind: 'good', text: 'The session has ended.' },
  'session-gone': { kind: 'info', text: 'The session had ended already.' },
  'sessions-ended': { kind: 'good', text: 'All sessions have ended.' },
  'account-saved': { kind: 'good', text: 'The account has been saved.' },
  'account-verified': { kind: 'good', text: 'The e-mail is marked as verified.' },
  'account-unverified': { kind: 'good', text: 'The e-mail is marked as not verified.' },
  'account-disabled': { kind: 'good', text: 'The account is disabled, and its sessions have ended.' },
  'account-enabled': { kind: 'good', text: 'The account is enabled.' },
  'account-deleted': { kind: 'good', text: 'The account has been deleted.' },
  'signed-in-again': {
    kind: 'info',
    text: 'You have signed in again since. Nothing was changed: please do it once more.',
  },
} as const satisfies Readonly<Record<string, PageNotice>>

export type NoticeName = keyof typeof notices

const cookieName = 'gatehouse-notice'
const lifetimeS = 60

export interface NoticeCookieOptions {
  readonly path: string
  readonly isSecure: boolean
}

/** Carries the name of a notice from one answer to the next page. */
export function createFlashNotices({ path, isSecure }: NoticeCookieOptions) {
  const attributes = { path, httpOnly: true, secure: isSecure, sameSite: 'strict' } as const
  return {
    set: (reply: FastifyReply, name: NoticeName): void => {
      reply.setCookie(cookieName, name, { ...attributes, maxAge: lifetimeS })
    },
    /** Takes the notice that was left, and removes it. */
    take: ({ cookies }: FastifyRequest, reply: FastifyReply): PageNotice | undefined => {
      const name = cookies[cookieName]
      if (name === undefined) return undefined
      reply.setCookie(cookieName, '', { ...attributes, maxAge: 0, expires: new Date(0) })
      // The cast is sound: the same line checks that it is a name of the table.
      return Object.hasOwn(notices, name) ? notices[name as NoticeName] : undefined
    },
  }
}

export type FlashNotices = ReturnType<typeof createFlashNotices>
