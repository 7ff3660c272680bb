export const passkeys = {
  title: 'Passkeys',
  lead: 'A passkey is your second factor, and one that verifies you signs you in without a password.',
  none: 'No passkeys',
  noneText: 'Add one to sign in with your fingerprint, face, PIN or a security key.',
  needScript: 'Passkeys need JavaScript.',
  needBrowser: 'Passkeys need JavaScript, and a browser that supports them.',
  name: 'Name',
  added: 'Added',
  lastUsed: 'Last used',
  never: 'Never',
  /** Read out after a button. */
  ofPasskey: (name: string) => `passkey ${name}`,
  rename: 'Rename',
  newName: 'New name',
  remove: 'Remove',
  removeHint: 'It no longer signs you in. Delete it on your device too.',
  removeLastHint:
    'It no longer signs you in. Delete it on your device too. It is your last second factor: after that, your password alone signs you in.',
  lastFactor:
    'This gateway requires two-factor sign-in, and this is your last passkey: first add another, or an authenticator app.',
  tooMany: (count: number) =>
    `You have ${count} passkeys, as many as an account may have: remove one to add another.`,
  add: 'Add passkey',
  addSummary: 'Add a passkey…',
  nameHint: 'To tell it from others, such as the device that keeps it.',
  nameFor: (number: number) => `Passkey ${number}`,
  passwordFirst: 'First set a password.',
  confirm: {
    title: 'Confirm that it is you',
    use: 'Use a passkey',
    lead: 'For 5 minutes, you are then not asked for your password or a code.',
    submit: 'Confirm with a passkey',
  },
}
