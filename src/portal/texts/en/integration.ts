import { englishCarriers } from '#identity/access.ts'
import { type Content, html } from '#platform/pages/html.ts'

export const integration = {
  title: 'Integration',
  lead: 'Your keys, and how to use them.',
  apiReference: 'API reference',
  codeExamples: 'Code examples',
  codeExamplesLead: 'Set your keys as environment variables. Reveal both keys above to copy them from here.',
  environment: 'Environment',
  language: 'Language',
  withSecretKey: (language: string) => `${language}, with the secret key`,
  withAccessToken: (language: string) => `${language}, with an access token`,
}

/** What the cards of both keys say. */
const eachKey = (noun: string) => ({
  /** To copy. */
  name: `the ${noun}`,
  hideName: `Hide: the ${noun}`,
  reveal: `Reveal the ${noun}`,
  reset: `Reset the ${noun}`,
  resetSummary: `Reset the ${noun}…`,
  /** @param span how long the old key keeps working; undefined = it does not */
  replaced: (span: string | undefined) =>
    `New ${noun}. Copy it now; the old one ${span === undefined ? 'is revoked' : `keeps working for ${span}`}.`,
  shownHere: `Shown on this page only. Store the ${noun} where your programs read it.`,
  shownOnce: `Copy the ${noun} now: it is not stored and cannot be shown again.`,
})

export const keys = {
  secretKey: {
    ...eachKey('secret key'),
    title: 'Secret key',
    resetLead: 'Creates a new secret key. Choose how long the old one keeps working while you switch.',
  },
  /** @param places made from `carriers` */
  secretKeyLead: (places: string) =>
    html`Send it ${places} with each request. Keep it on servers. Documents of the interface also call it API secret or <code>SecretKey</code>.`,
  carriers: englishCarriers,
  apiKey: {
    ...eachKey('API key'),
    title: 'API key',
    resetLead:
      'Creates a new key. The old one stops working immediately; access tokens and sessions stay valid.',
  },
  apiKeyLead: 'Exchange it, with your secret key, for access tokens.',
  hide: 'Hide',
  reveal: 'Reveal',
  created: 'Created',
  lastUsed: 'Last used',
  never: 'Never',
  address: 'Address',
  usedFor: 'Used for',
  apiRequest: 'API request',
  accessToken: 'Access token',
  keepOld: 'Keep the old secret key for',
  revokeNow: 'Revoke now',
  revokeNowHint: '“Revoke now” also revokes the sessions and access tokens created with it.',
  confirmRevokeNow: 'Revoke now…',
  stillUsedRefused: 'Clients that still use the old secret key will be rejected.',
  twoValid: (until: Content) =>
    html`<strong>Two secret keys are valid.</strong> The old one expires ${until}.`,
  /** Such as `2 hours ago from 203.0.113.7`. */
  use: (when: string, address: string) => `${when} from ${address}`,
  unused: 'Not used: safe to revoke.',
  unusedSince: (use: string) => `Not used since the reset: safe to revoke. Last use before that: ${use}.`,
  inUse: (use: string) => `Still in use: last used ${use}.`,
  overlapOver: 'The old secret key has expired: only the new one works.',
  notRevealable: 'This key cannot be revealed. Reset it to get a new one.',
  chooseGrace: 'Choose how long the old secret key keeps working.',
}
