export type Reason = keyof typeof reasonTexts

/** What people are told whose sign-in at a provider is refused: each says what to do. */
export const reasonTexts = {
  'no-email': (label: string) =>
    `${label} did not tell your e-mail address. Ask an administrator to let it be told to this gateway.`,
  'email-unverified': (label: string) =>
    `${label} has not verified your e-mail address. Verify it there, then sign in again.`,
  'no-account': () => 'There is no account with your e-mail address. Ask an administrator for one.',
  'another-person': (label: string) =>
    `You confirmed as another person than the one who is signed in here. Choose the same account at ${label}.`,
  'linked-otherwise': (label: string) =>
    `The account with your e-mail address belongs to another user of ${label}. Ask an administrator to unlink it.`,
} as const satisfies Readonly<Record<string, (label: string) => string>>
