import { type Content, html } from '#platform/pages/html.ts'

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
