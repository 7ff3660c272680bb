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
  /** In place of what an answer repeats. */
  placeholders: {
    secretKey: '[your secret]',
    apiKey: '[your API key]',
    accessToken: '[your access token]',
  },
}
