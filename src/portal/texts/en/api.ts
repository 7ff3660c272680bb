import { html } from '#platform/pages/html.ts'

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
  noScopes: 'None',
  unscopedOnly: 'Keys without scopes only',
  noLimit: 'None',
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
