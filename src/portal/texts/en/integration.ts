import { html } from '#platform/pages/html.ts'

export const integration = {
  lead: 'Your keys, and how to use them.',
  codeExamples: 'Code examples',
  codeExamplesLead: 'Set your keys as environment variables. Reveal both keys above to copy them from here.',
  environment: 'Environment',
  language: 'Language',
  withSecretKey: (language: string) => `${language}, with the secret key`,
  withAccessToken: (language: string) => `${language}, with an access token`,
}

/** How a route was called. */
const credentials = {
  none: 'no credential',
  accessToken: 'an access token',
  secretKey: 'the secret key',
}

export const tryIt = {
  title: 'Try it',
  lead: 'Calls the gateway with your keys and shows the identity the backend received.',
  noRoutes: 'Your account cannot call any route.',
  route: 'Route',
  send: 'Send request',
  sending: 'Sending…',
  more: 'Method, path and body',
  method: 'Method',
  asAbove: 'As above',
  rest: 'Rest of the path',
  restHint: 'Such as /42?limit=10.',
  body: 'Body',
  bodyHint: 'JSON; a GET has none.',
  sent: (request: string, credential: keyof typeof credentials, durationMs: number) =>
    `${request} · with ${credentials[credential]} · ${durationMs} ms`,
  noBody: 'The response has no body.',
  response: (contentType: string, isTruncated: boolean) =>
    `Response, ${contentType}${isTruncated ? ' (truncated)' : ''}`,
  noEcho: 'The backend does not echo request headers; this is its response.',
  noneEchoed: 'The echoed headers contain no identity.',
  noneSent: 'No identity was sent: the route has auth: none.',
  received: 'The backend received',
  badPath: (path: string) => `Begin the path below ${path} with / or ?, as it is in a URL.`,
  keysNotStored: 'Your keys are not stored, so the portal cannot use them: use the code examples above.',
  late: (seconds: number) =>
    `No response within ${seconds} seconds. Use the code examples above for slower routes.`,
  unreachable: 'The portal could not connect to the gateway listener.',
  /** Shown in place of credentials that a response repeats. */
  placeholders: {
    secretKey: '[your secret key]',
    apiKey: '[your API key]',
    accessToken: '[your access token]',
  },
}

export const api = {
  title: 'API reference',
  lead: 'What you can call with your keys.',
  unreadable: 'The description of the endpoints cannot be read now. Load the page again.',
  routes: 'Routes',
  routesLead: (tryUrl: string) => html`Every path below is included. <a href="${tryUrl}">Try them</a>.`,
  noRoutes: 'No routes',
  noRoutesText: 'Your account cannot call any route of this gateway. Ask an administrator.',
  columns: {
    route: 'Route',
    request: 'Request',
    credential: 'Credential',
    scopes: 'Scopes',
    limit: 'Limit',
  },
  /** What a route accepts, by its `auth`. */
  credentials: {
    secretKey: 'Secret key',
    bearer: 'Access token',
    any: 'Secret key or access token',
    optional: 'Secret key, access token or none',
    none: 'None',
    deny: 'None is accepted',
  },
  anyMethod: 'Any method',
  unscopedOnly: 'Keys without scopes only',
  none: 'None',
  /** @param limit such as `100 requests per minute` */
  limitBy: {
    account: (limit: string) => `${limit} of your account`,
    key: (limit: string) => `${limit} of each key`,
    ip: (limit: string) => `${limit} of each address`,
  },
  clientLibrary: 'Client library',
  clientLead: 'Gets access tokens with both keys, keeps and refreshes them.',
  clientLeadWithSecretKey:
    'Gets access tokens with both keys, keeps and refreshes them. With the secret key alone it sends that.',
  isForAnyone: 'No credential',
  isForKeys: 'Your key or access token',
  parameters: 'Parameters',
  /** @param place `in` of OpenAPI, such as `query` */
  parameter: (place: string, isRequired: boolean) => `${place}${isRequired ? ', required' : ''}`,
  body: (type: string) => `Body, ${type}`,
  bodyType: 'Body: ',
  responses: 'Responses',
}
