import { html } from '#platform/pages/html.ts'

export const secondFactor = {
  title: 'Two-factor sign-in',
  required: 'Set up two-factor sign-in to continue: this gateway requires it.',
  recoveryCodes: 'Recovery codes',
  recoveryCodesLead:
    'Save these codes now: they are not shown again. Each one signs you in once without app or passkey.',
  isOn: 'Two-factor sign-in is on',
  since: 'Since',
  recoveryCodesLeft: 'Recovery codes left',
  countOf: (left: number, all: number) => `${left} of ${all}`,
  setUp: {
    title: 'Set up an authenticator app',
    lead: 'After your password, signing in then asks for a code that the app shows.',
    leadWithCodes:
      'After your password, signing in then asks for a code that the app shows. It brings new recovery codes: your earlier ones stop working.',
    qrCode: 'QR code for the authenticator app',
    scan: 'Scan the picture with the app, or type this key into it:',
    code: 'Code from the app',
    submit: 'Turn on',
  },
  newCodes: {
    title: 'New recovery codes',
    lead: 'Your earlier codes stop working.',
    submit: 'Replace recovery codes',
  },
  turnOff: {
    title: 'Turn off',
    lead: 'After that, your password alone signs you in.',
    submit: 'Turn off two-factor sign-in',
  },
  removeApp: {
    title: 'Remove the app',
    lead: 'After that, signing in with your password asks for a passkey or a recovery code.',
    submit: 'Remove authenticator app',
  },
  proof: { recoveryCode: 'Recovery code', code: 'Code from the app, or a recovery code' },
  signIn: {
    titleWithPasskeys: 'Confirm that it is you',
    title: 'Enter the code',
    usePasskey: 'Use a passkey',
    code: 'Code',
    codeHint: 'The six digits that your authenticator app shows, or one of your recovery codes.',
    recoveryCodeHint: 'One of the codes that you saved when you added your first passkey. Each works once.',
    submit: 'Sign in',
    lostPasskeys: (startUrl: string) =>
      html`Lost your passkeys and your recovery codes? An administrator can reset them. <a href="${startUrl}">Start again</a>`,
    lostApp: (startUrl: string) =>
      html`Lost your app and your recovery codes? An administrator can reset them. <a href="${startUrl}">Start again</a>`,
  },
  /** Of an account, for Admins. */
  ofAccount: {
    own: (profileUrl: string) => html`On: see your <a href="${profileUrl}">profile</a>.`,
    app: 'an authenticator app',
    passkeys: (count: number) => (count === 1 ? 'a passkey' : `${count} passkeys`),
    /** @param means one or two of the above */
    isOn: (means: readonly string[]) => `Two-factor sign-in is on: ${means.join(' and ')}`,
    hint: 'If the owner has lost them and the recovery codes, remove all. The password alone then signs them in.',
    remove: 'Remove',
  },
  passkeyFirst: 'First confirm with a passkey; it lasts for 5 minutes.',
}
