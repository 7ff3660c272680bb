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
