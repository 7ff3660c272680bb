import type { PortalRequest } from './portal-request.ts'
import type { PageNotice } from './views/frame.ts'

/** Messages shown once, after a form was submitted: by name, so that nobody can inject a text. */
const notices = {
  'signed-out': { kind: 'good', text: 'You are signed out.' },
  'signed-out-everywhere': { kind: 'good', text: 'You are signed out everywhere.' },
  'session-over': { kind: 'info', text: 'Your session has ended. Sign in again.' },
  welcome: { kind: 'good', text: 'Your password is set, and you are signed in.' },
  'password-changed': { kind: 'good', text: 'The password has been changed. Other browsers are signed out.' },
  'password-set': { kind: 'good', text: 'Your password is set. Sign in with it and your code.' },
  'set-up-link-mailed': { kind: 'good', text: 'A set-up link is on its way to the owner.' },
  'second-factor-off': { kind: 'good', text: 'Two-factor sign-in is off.' },
  'app-removed': { kind: 'good', text: 'The authenticator app is removed.' },
  'passkey-added': { kind: 'good', text: 'The passkey is added.' },
  'passkey-renamed': { kind: 'good', text: 'The passkey is renamed.' },
  'passkey-removed': { kind: 'good', text: 'The passkey is removed. Delete it on your device too.' },
  'passkey-gone': { kind: 'info', text: 'The passkey was already removed.' },
  'second-factor-reset': { kind: 'good', text: 'The second factor is removed.' },
  'second-factor-none': { kind: 'info', text: 'The account has no second factor.' },
  'name-saved': { kind: 'good', text: 'The name has been saved.' },
  'language-saved': { kind: 'good', text: 'The language has been saved.' },
  'link-sent': { kind: 'good', text: 'A link has been sent. Open it to confirm the e-mail.' },
  'email-verified': { kind: 'good', text: 'The e-mail is verified.' },
  'overlap-ended': { kind: 'good', text: 'The old secret key is revoked.' },
  'overlap-over': { kind: 'info', text: 'The old secret key was already revoked.' },
  'key-replaced': {
    kind: 'warn',
    text: 'This key was already replaced; it was not reset again.',
  },
  'certificate-added': { kind: 'good', text: 'The certificate is a key of yours now.' },
  'secret-key-renamed': { kind: 'good', text: 'The key is renamed.' },
  'secret-key-revoked': { kind: 'good', text: 'The key is revoked.' },
  'secret-key-ends': { kind: 'good', text: 'The key will be revoked at the time you chose.' },
  'secret-key-gone': { kind: 'info', text: 'The key was already revoked.' },
  'session-ended': { kind: 'good', text: 'The session has ended.' },
  'session-gone': { kind: 'info', text: 'The session had already ended.' },
  'sessions-ended': { kind: 'good', text: 'All sessions have ended.' },
  'account-saved': { kind: 'good', text: 'The account has been saved.' },
  'accounts-changed': { kind: 'good', text: 'The accounts have been changed.' },
  'none-ticked': { kind: 'info', text: 'Tick the accounts to change first.' },
  'account-verified': { kind: 'good', text: 'The e-mail is marked as verified.' },
  'account-unverified': { kind: 'good', text: 'The e-mail is marked as not verified.' },
  'account-disabled': { kind: 'good', text: 'The account is disabled, and its sessions have ended.' },
  'account-enabled': { kind: 'good', text: 'The account is enabled.' },
  'account-taken-over': {
    kind: 'good',
    text: 'The account is yours. What was there before has ended; reset its keys to get new ones.',
  },
  'account-unlinked': { kind: 'good', text: 'The account is unlinked, and its portal sessions have ended.' },
  'subject-blocked': { kind: 'good', text: 'The user is blocked.' },
  'subject-was-blocked': { kind: 'info', text: 'The user was already blocked.' },
  'subject-unblocked': { kind: 'good', text: 'The user is unblocked.' },
  'subject-not-blocked': { kind: 'info', text: 'The user was not blocked.' },
  'events-retried': { kind: 'good', text: 'What is pending is tried again within a second.' },
  'receiver-new': { kind: 'info', text: 'No gateway has delivered to this receiver yet.' },
  'receiver-gone': { kind: 'info', text: 'This receiver is no longer in the config.' },
  'account-deleted': { kind: 'good', text: 'The account has been deleted.' },
  'signed-in-again': {
    kind: 'info',
    text: 'You signed in again in another tab. Nothing was changed: submit the form again.',
  },
} as const satisfies Readonly<Record<string, PageNotice>>

export type NoticeName = keyof typeof notices

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
    take: ({ cookies }: PortalRequest): PageNotice | undefined => {
      const name = cookies.get(cookieName)
      if (name === undefined) return undefined
      cookies.set(cookieName, '', { ...attributes, maxAge: 0, expires: new Date(0) })
      // The cast is sound: the same line checks that it is a key of the table.
      return Object.hasOwn(notices, name) ? notices[name as NoticeName] : undefined
    },
  }
}

export type FlashNotices = ReturnType<typeof createFlashNotices>
