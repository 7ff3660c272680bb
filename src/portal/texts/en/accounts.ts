import { formatCount } from '#platform/pages/format.ts'
import { type Content, html } from '#platform/pages/html.ts'

/** What several pages say about accounts, and the pages that create one or delete it. */
export const accounts = {
  account: 'Account',
  email: 'E-mail',
  role: 'Role',
  plan: 'Plan',
  state: 'State',
  keys: 'Keys',
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

export const accountList = {
  all: (count: number) => `${accountCount(count)}.`,
  found: (shown: number, count: number) => `${shown} of ${accountCount(count)}.`,
  foundMore: (count: number) => `Matches among ${accountCount(count)}.`,
  import: 'Import',
  continueSearch: 'Continue the search',
  search: 'Search accounts',
  searchHint: 'Part of an e-mail or name, or an ID',
  anyRole: 'Any role',
  anyPlan: 'Any plan',
  noPlan: 'No plan',
  anyState: 'Any state',
  enabled: 'Enabled',
  lastActive: 'Last active',
  anyActivity: 'Any activity',
  activities: {
    '7': 'Active in 7 days',
    '30': 'Active in 30 days',
    'not-30': 'Idle for 30 days',
    'not-90': 'Idle for 90 days',
    'not-365': 'Idle for a year',
  },
  order: 'Order',
  newestFirst: 'Newest first',
  bestFirst: 'Best matches first',
  oldestFirst: 'Oldest first',
  byEmail: 'By e-mail',
  submit: 'Search',
  clear: 'Clear',
  ticked: 'Ticked',
  tick: (email: string) => `Tick ${email}`,
  tickAll: 'All on this page',
  withTicked: 'With the ticked accounts',
  continue: 'Continue…',
  today: 'Today',
  yesterday: 'Yesterday',
  none: { title: 'No accounts yet', text: 'Create one, or import a file.' },
  noneYet: {
    title: 'No matches yet',
    text: 'There are too many accounts to search at once. Continue where this page ended.',
  },
  noMatches: {
    title: 'No matches',
    text: (url: string) => html`No account has all of this. <a href="${url}">Show all accounts</a>`,
  },
}

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
  noSetupLink: 'Set-up links do not work for disabled accounts. Enable the account first.',
  noPassword: 'No password',
  /** @param labels of the providers */
  signInWith: (labels: string) => `People sign in with ${labels}.`,
  ownPasswordHint: (url: string) => html`Change it on your <a href="${url}">profile</a>.`,
  emailVerified: 'The e-mail is verified',
  emailNotVerified: 'The e-mail is not verified',
  verifiedHint: 'Some routes require a verified account.',
  verify: 'Mark as verified',
  unverify: 'Mark as not verified',
  own: 'This is your own account',
  ownHint: 'Another Admin can change its role, disable or delete it.',
  isEnabled: 'The account is enabled',
  isEnabledHint: 'Disabling it stops its keys and ends its sessions.',
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
  secretKeyCreated: 'Secret key created',
  apiKeyCreated: 'API key created',
  lastUse: (at: Content, address: string) => html`${at} from ${address}`,
  resetApiKeyHint: 'The old key stops working immediately.',
  delete: 'Delete',
  deleteLead: 'Revokes its keys, tokens and sessions immediately. This cannot be undone.',
  deleteAccount: 'Delete account…',
}

export const accountImport = {
  title: 'Import accounts',
  lead: (max: number) =>
    html`CSV with a header row, or JSON Lines: up to ${formatCount(max)} accounts, all or nothing. For larger files use <code>gatehouse accounts import</code>.`,
  file: 'File',
  text: 'Or paste it here',
  /** @param fields separated by commas */
  textHint: (fields: string) => `Fields: ${fields}; only email is required.`,
  mailsLink: 'Send each owner a set-up link by e-mail',
  submit: 'Import',
  nothing: 'Choose a file or paste its contents.',
  /** @param command how many the command line imports */
  tooMany: (max: number, command: number) =>
    `The portal imports at most ${formatCount(max)} accounts at a time. Split the file, or use gatehouse accounts import FILE (up to ${formatCount(command)}).`,
  created: (count: number, url: string) =>
    html`${accountCount(count)} created. <a href="${url}">Show accounts</a>`,
  createdAndMailed: (count: number, url: string) =>
    html`${accountCount(count)} created, and their set-up links are on their way. <a href="${url}">Show accounts</a>`,
  keysLead: 'Save these keys before you leave this page: they are not shown again.',
  keysFile: 'Keys as CSV',
  badLines: (count: number) => `${lineCount(count)} cannot be imported`,
  badLinesLead: 'Nothing was imported. Fix these lines and import the file again.',
  line: 'Line',
  problem: 'Problem',
  moreBadLines: (count: number) => `And ${lineCount(count)} more.`,
  /** For the second of two identical imports, “Nothing was imported” would be wrong. */
  repeated: 'All of these accounts already exist',
  repeatedLead:
    'The file may have been imported twice. If the keys were not saved, reset them on each account.',
}

export const severalAccounts = {
  disable: {
    action: 'Disable',
    title: (count: number) => `Disable ${accountCount(count)}?`,
    lead: 'Their keys stop working and their sessions end. Enabling them again restores the keys, not the sessions.',
  },
  enable: {
    action: 'Enable',
    title: (count: number) => `Enable ${accountCount(count)}?`,
    lead: 'Their keys work again.',
  },
  role: {
    action: 'Change the role',
    title: (count: number) => `Change the role of ${accountCount(count)}?`,
    lead: 'Access tokens issued with the old role are revoked.',
  },
  plan: {
    action: 'Change the plan',
    title: (count: number) => `Change the plan of ${accountCount(count)}?`,
    lead: 'The new plan applies from the next request on.',
  },
  outcome: {
    title: (changed: number, count: number) => `${changed} of ${accountCount(count)} changed`,
    refused: (count: number) => `${accountCount(count)} could not be changed.`,
    table: 'Accounts that were not changed',
    why: 'Why',
  },
}

function accountCount(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'account' : 'accounts'}`
}

function lineCount(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'line' : 'lines'}`
}
