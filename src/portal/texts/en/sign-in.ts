import { type Content, html } from '#platform/pages/html.ts'

export const signIn = {
  title: 'Sign in',
  lead: 'Manage your keys and sessions.',
  submit: 'Sign in',
  withPasskey: 'Sign in with a passkey',
  withProvider: (label: string) => `Sign in with ${label}`,
  otherWays: (forgot: string, setup: string) =>
    html`<a href="${forgot}">Forgot your password?</a> First time here? <a href="${setup}">Use your set-up link</a>.`,
  back: 'Back to the portal',
  requestId: 'Request ID',
  takeOver: {
    title: 'Is this your account?',
    usedBefore: (email: Content, label: string) =>
      html`The account ${email} has been used without ${label} before: by you, or by somebody who entered your address.`,
    keep: (signInUrl: string, label: string) =>
      html`<strong>It is yours, and you know its password:</strong> <a href="${signInUrl}">sign in with it once</a>, then confirm with ${label}. Everything stays as it is.`,
    otherwise: 'Otherwise take it over:',
    only: 'Take it over:',
    consequences:
      'its password, two-factor sign-in, sessions and all keys end. Programs with its keys stop working until they get new ones, which you find in the portal.',
    submit: 'Take over the account',
    back: 'Back to the sign-in',
  },
}

/** Pages of links that set a password or verify an e-mail. */
export const links = {
  token: 'Set-up link',
  tokenHint: 'The whole link, or the part after the #.',
  forgotten: {
    title: 'Forgot your password?',
    emailHint: (lifetime: string) => `We send a link to this address. It works once, for ${lifetime}.`,
    submit: 'Send link',
    after: 'A new password signs out every browser. Your keys stay as they are.',
    noMail: 'This gateway sends no e-mail. Ask an administrator for a set-up link to choose a new password.',
    hasLink: (setup: string, signIn: string) =>
      html`Got a link? <a href="${setup}">Use it</a>, or <a href="${signIn}">sign in</a>.`,
  },
  requested: {
    title: 'Check your e-mail',
    sent: (email: Content, lifetime: string) =>
      html`If ${email} has an account, a link to choose a new password is on its way. It works once, for ${lifetime}.`,
    noEmail: 'No e-mail? Check your spam folder and the address, or ask an administrator for a set-up link.',
    anotherAddress: 'Another address',
  },
  password: {
    title: 'Choose a password',
    after: (forgot: string, signIn: string) =>
      html`Links work once, and for a limited time. <a href="${forgot}">Get another link</a>, or <a href="${signIn}">sign in</a>.`,
  },
  setup: {
    lead: 'Use it to sign in from now on.',
    submit: 'Set password',
    /** @param when such as `in 3 hours` */
    expires: (when: Content) => html`The link expires ${when}.`,
    after: 'Setting a password signs out all other browsers; keys stay as they are.',
  },
  newPasswordHint: (charactersMin: number) =>
    `At least ${charactersMin} characters. A few words you can remember are best; common passwords are refused.`,
  again: (label: string) => `${label}, again`,
  noMatch: 'The passwords do not match.',
  verify: {
    title: 'Confirm your e-mail',
    token: 'Link from the e-mail',
    submit: 'Confirm e-mail',
    after: 'The link works only while you are signed in to the account that asked for it.',
    owner: (email: Content, account: Content) =>
      html`This link makes ${email} the e-mail of the account ${account}.`,
    signInFirst: (url: string) =>
      html`<a href="${url}">Sign in to it</a>, then open the link in the e-mail again.`,
    signOutFirst: (viewer: Content) =>
      html`You are signed in to ${viewer}: sign out, sign in to that account, then open the link in the e-mail again.`,
    notYours: 'Is that not your account? Then leave it: nothing has changed.',
  },
  forOwner: {
    title: 'Set-up link',
    hint: 'Lets the owner set a portal password.',
    create: 'Create link',
    byMail: 'Set-up link by e-mail',
    byMailHint: 'Lets the owner set a portal password. It goes to the e-mail of the account.',
    mail: 'Mail link',
  },
}

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
  },
  passkeyFirst: 'First confirm with a passkey; it lasts for 5 minutes.',
}

export const passkeys = {
  title: 'Passkeys',
  lead: 'A passkey is your second factor, and one that verifies you signs you in without a password.',
  none: 'No passkeys',
  noneText: 'Add one to sign in with your fingerprint, face, PIN or a security key.',
  needScript: 'Passkeys need JavaScript.',
  needBrowser: 'Passkeys need JavaScript, and a browser that supports them.',
  added: 'Added',
  /** Screen readers say it after the text of a button. */
  ofPasskey: (name: string) => `passkey ${name}`,
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
