import { type Content, html } from '#platform/pages/html.ts'

/** Pages of links that set a password or verify an e-mail. */
export const links = {
  signIn: 'Sign in',
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
    continue: 'Continue',
    after: (forgot: string, signIn: string) =>
      html`Links work once, and for a limited time. <a href="${forgot}">Get another link</a>, or <a href="${signIn}">sign in</a>.`,
  },
  setup: {
    lead: 'Use it to sign in from now on.',
    password: 'Password',
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
