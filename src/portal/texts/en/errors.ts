import type { Messages } from '../messages.ts'

export const errors = {
  wrongEmailOrPassword: 'Wrong e-mail or password.',
  wrongPassword: 'The password is wrong.',
  disabled: 'This account is disabled. Ask an administrator.',
  codeTooLate: 'The code came too late. Sign in again.',
  /** @param providers such as `Example ID or Google` */
  firstConfirm: (providers: string) =>
    `First confirm with ${providers} that it is you; it lasts for 5 minutes.`,
  /** @param when such as `in 3 minutes` */
  tryAgainIn: (when: string) => `Try again ${when}.`,
  pageNotFound: { title: 'Page not found', detail: 'There is no such page.' },
  administratorsOnly: {
    title: 'Administrators only',
    detail: 'Your account does not have the role this page requires.',
  },
  /** If the store does not answer; the details say what the request may have changed. */
  unavailable: {
    title: 'Temporarily unavailable',
    read: 'This page is temporarily unavailable. Recently used keys keep working. Try again in a moment.',
    nothing:
      'This page is temporarily unavailable. Nothing was saved. Recently used keys keep working. Try again in a moment.',
    unknown:
      'This page is temporarily unavailable. Your change may or may not have been saved: check before you submit again. Recently used keys keep working. Try again in a moment.',
  },
  showInAuditLog: 'Show in audit log',
  backToSignIn: 'Back to sign-in',
  tryAgain: 'Try again',
  /** The link of a page that continues by itself. */
  continue: 'Continue',
  /** Those of lower rooms are in English already. */
  messages: {} as Messages,
}
