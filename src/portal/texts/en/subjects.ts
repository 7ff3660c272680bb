import { html } from '#platform/pages/html.ts'

export const subjects = {
  title: 'Blocked users',
  lead: 'Users of other issuers whose tokens are refused on every route.',
  block: 'Block a user',
  issuer: 'Issuer',
  /** @param names of the issuers in the config, separated by commas */
  issuerHint: (names: string) => `Its name in the config: ${names}.`,
  noIssuerHint: 'Its name in the config.',
  subject: 'Subject',
  subjectHint:
    'The sub claim of their tokens. Logs and headers show it after the name of the issuer, percent-encoded.',
  consequence: 'All of the user’s tokens are refused, later ones too, and open WebSockets are closed.',
  submit: 'Block',
  user: 'User',
  blocked: 'Blocked',
  action: 'Action',
  unblock: (subject: string, issuer: string) =>
    html`Unblock<span class="visually-hidden"> ${subject} of ${issuer}</span>`,
  nobody: {
    title: 'Nobody is blocked',
    text: 'Users of other issuers have no account here. Block one to refuse their tokens before the issuer does.',
  },
}
