import { type Content, html } from '#platform/pages/html.ts'

/** One account, as an Admin sees it. */
export const accountPage = {
  oneTime: {
    created: 'Account created',
    saveKeysAndLink: 'Send the link to the owner. Save these keys: they are not shown again.',
    saveKeys: 'Save these keys: they are not shown again.',
    keyReset: 'Key reset',
    saveKey: 'Save this key and give it to the owner: it is not shown again.',
    linkCreated: 'Set-up link created',
    sendLink: 'Send it to the account owner. It is not shown again.',
    linkMailed: 'A set-up link is on its way to the owner.',
    noLink: 'The set-up link could not be created. Create one under Access below.',
    linkHint: (expires: Content) =>
      html`Single use; expires ${expires}. Anyone who has it can set the password.`,
  },
  details: 'Details',
  roleChange: 'Changing the role revokes access tokens issued with the old role.',
  saveDetails: 'Save details',
  access: 'Access',
  setupLink: 'Set-up link',
  noSetupLink: 'Set-up links do not work for disabled accounts. Enable the account first.',
  noPassword: 'No password',
  /** @param labels of the providers */
  signInWith: (labels: string) => `People sign in with ${labels}.`,
  ownPassword: 'Your password',
  ownPasswordHint: (url: string) => html`Change it on your <a href="${url}">profile</a>.`,
  emailVerified: 'The e-mail is verified',
  emailNotVerified: 'The e-mail is not verified',
  verifiedHint: 'Some routes require a verified account.',
  verify: 'Mark as verified',
  unverify: 'Mark as not verified',
  own: 'This is your own account',
  ownHint: 'Another Admin can change its role, disable or delete it.',
  isEnabled: 'The account is enabled',
  isEnabledHint: 'Its keys stop working and its sessions end.',
  disable: 'Disable',
  disableConsequence:
    'Its keys stop working and its sessions end. Enabling it again restores the keys, not the sessions.',
  isDisabled: 'The account is disabled',
  isDisabledHint: 'Its keys are rejected.',
  enable: 'Enable',
  linked: (count: number): string =>
    count === 1 ? 'Linked with a sign-in service' : 'Linked with sign-in services',
  /** @param identities each as `issuer: subject` */
  linkedHint: (identities: string) => `${identities}. Unlinking ends the portal sessions.`,
  unlink: 'Unlink',
  keys: 'Keys',
  secretKeyCreated: 'Secret key created',
  apiKeyCreated: 'API key created',
  lastUse: (at: Content, address: string) => html`${at} from ${address}`,
  resetApiKeyHint: 'The old key stops working immediately.',
  delete: 'Delete',
  deleteLead: 'Revokes its keys, tokens and sessions immediately. This cannot be undone.',
  deleteAccount: 'Delete account…',
}
