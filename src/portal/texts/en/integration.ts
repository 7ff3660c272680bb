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
