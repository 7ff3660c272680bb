import { formatCount } from '#platform/pages/format.ts'
import { html } from '#platform/pages/html.ts'

/** What several pages say about accounts, and the pages that create one or delete it. */
export const accounts = {
  account: 'Account',
  email: 'E-mail',
  role: 'Role',
  plan: 'Plan',
  state: 'State',
  disabled: 'Disabled',
  you: 'You',
  cancel: 'Cancel',
  firstPage: 'First page',
  nextPage: 'Next page',
  /** @param roles separated by commas */
  roleHint: (roles: string) => `Roles are case-sensitive. Known roles: ${roles}.`,
  wrongCase: (similar: string) => `Did you mean ${similar}? Roles are case-sensitive.`,
  planHint: 'How much the account may use.',
  noPlan: 'None: not limited',
  unknownPlan: (name: string) => `${name} (not in the config: not limited)`,
  choosePlan: 'Choose a plan.',
  new: {
    title: 'New account',
    lead: 'Keys are created with the account. The next page shows them.',
    leadWithLink:
      'Keys are created with the account. The next page shows them and a set-up link for the owner.',
    isVerified: 'Mark the e-mail as verified',
    mailsLink: 'Send the owner a set-up link by e-mail',
    submit: 'Create account',
  },
  delete: {
    title: 'Delete this account?',
    lead: (email: string) =>
      html`<strong>${email}</strong> loses its keys, tokens and sessions immediately. This cannot be undone.`,
    confirmation: 'Type the account e-mail to confirm',
    differs: 'Does not match the account e-mail.',
    submit: 'Delete account',
  },
}

export function accountCount(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'account' : 'accounts'}`
}
