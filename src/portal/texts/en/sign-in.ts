import { type Content, html } from '#platform/pages/html.ts'

export const signIn = {
  title: 'Sign in',
  lead: 'Manage your keys and sessions.',
  email: 'E-mail',
  password: 'Password',
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
