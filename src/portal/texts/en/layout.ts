import { type Content, html } from '#platform/pages/html.ts'

export const layout = {
  skipToContent: 'Skip to content',
  navigation: 'Portal',
  administration: 'Administration',
  sections: {
    '/integration': 'Integration',
    '/usage': 'Usage',
    '/sessions': 'Sessions',
    '/profile': 'Profile',
    '/accounts': 'Accounts',
    '/audit': 'Audit',
  },
  signOut: 'Sign out',
}

/** What several pages share. */
export const parts = {
  /** For screen readers. @param what the heading of the code, or the name of the key */
  copy: (what: string) => `Copy: ${what}`,
  save: 'Save',
  saveAs: (what: string) => `Save: ${what}`,
  /** The navigation through a list. */
  pages: 'Pages',
  never: 'Never',
  created: 'Created',
  name: 'Name',
  lastUsed: 'Last used',
  expires: 'Expires',
  address: 'Address',
  newName: 'New name',
  rename: 'Rename',
  newest: 'Newest',
  older: 'Older',
  password: 'Password',
}

/** What forms share. */
export const form = {
  yourPassword: 'Your password',
  confirmedByPasskey: 'You have just confirmed with a passkey.',
  confirmed: 'You have just confirmed that it is you.',
  orByPasskey: (url: string) => html`Or <a href="${url}">confirm with a passkey</a>.`,
  firstByPasskey: (url: string) => html`First <a href="${url}">confirm with a passkey</a>.`,
  /** @param links the providers, each by `confirmWith` */
  orAtProvider: (links: Content) => html`Or, instead of the password: ${links}.`,
  firstAtProvider: (links: Content) => html`First confirm that it is you: ${links}.`,
  confirmWith: (label: string) => `confirm with ${label}`,
  /** Between alternatives. */
  or: ' or ',
}

/** What the script says; placeholders are in braces. */
export const script = {
  copy: 'Copy',
  copied: 'Copied',
  shownForOneMinute: 'Shown for one minute.',
  hiddenAgain: 'Hidden again.',
  noResponse: 'The gateway is not responding. Try again.',
  passkeysElsewhere: 'Passkeys work only at {origin}: open the portal there.',
  noPasskeySupport: 'This browser does not support passkeys. Update it, or use another way.',
  passkeyExists: 'This device has a passkey for this account already.',
  noPasskeyUsed: 'No passkey was used: it was cancelled, took too long, or there is none here. Try again.',
}

/** What has just been done, on the next page. */
export const notices = {
  'signed-out': 'You are signed out.',
  'signed-out-everywhere': 'You are signed out everywhere.',
  'session-over': 'Your session has ended. Sign in again.',
  welcome: 'Your password is set, and you are signed in.',
  'password-changed': 'The password has been changed. Other browsers are signed out.',
  'password-set': 'Your password is set. Sign in with it and your code.',
  'set-up-link-mailed': 'A set-up link is on its way to the owner.',
  'second-factor-off': 'Two-factor sign-in is off.',
  'app-removed': 'The authenticator app is removed.',
  'passkey-added': 'The passkey is added.',
  'passkey-renamed': 'The passkey is renamed.',
  'passkey-removed': 'The passkey is removed. Delete it on your device too.',
  'passkey-gone': 'The passkey was already removed.',
  'second-factor-reset': 'The second factor is removed.',
  'second-factor-none': 'The account has no second factor.',
  'name-saved': 'The name has been saved.',
  'language-saved': 'The language has been saved.',
  'link-sent': 'A link has been sent. Open it to confirm the e-mail.',
  'email-verified': 'The e-mail is verified.',
  'overlap-ended': 'The old secret key is revoked.',
  'overlap-over': 'The old secret key was already revoked.',
  'key-replaced': 'This key was already replaced; it was not reset again.',
  'certificate-added': 'The certificate is a key of yours now.',
  'secret-key-renamed': 'The key is renamed.',
  'secret-key-revoked': 'The key is revoked.',
  'secret-key-ends': 'The key ends at the time you chose, unless it would have ended earlier.',
  'secret-key-gone': 'The key was already revoked.',
  'session-ended': 'The session has ended.',
  'session-gone': 'The session had already ended.',
  'sessions-ended': 'All sessions have ended.',
  'account-saved': 'The account has been saved.',
  'accounts-changed': 'The accounts have been changed.',
  'none-ticked': 'Tick the accounts to change first.',
  'account-verified': 'The e-mail is marked as verified.',
  'account-unverified': 'The e-mail is marked as not verified.',
  'account-disabled': 'The account is disabled, and its sessions have ended.',
  'account-enabled': 'The account is enabled.',
  'account-taken-over':
    'The account is yours. What was there before has ended; reset its keys to get new ones.',
  'account-unlinked': 'The account is unlinked, and its portal sessions have ended.',
  'subject-blocked': 'The user is blocked.',
  'subject-was-blocked': 'The user was already blocked.',
  'subject-unblocked': 'The user is unblocked.',
  'subject-not-blocked': 'The user was not blocked.',
  'events-retried': 'What is pending is tried again within a second.',
  'receiver-new': 'No gateway has delivered to this receiver yet.',
  'receiver-gone': 'This receiver is no longer in the config.',
  'account-deleted': 'The account has been deleted.',
  'signed-in-again': 'You signed in again in another tab. Nothing was changed: submit the form again.',
}

/**
 * Translations of the messages that other rooms write in English: whole sentences by their English text, in which `{}`
 * stands for anything that is inserted.
 */
export type Messages = Readonly<Record<string, string | ((...inserted: string[]) => string)>>

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
  /** Empty, as the messages of other rooms are in English already. */
  messages: {} as Messages,
}
