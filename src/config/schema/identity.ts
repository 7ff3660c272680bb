import { duration, flag, headerName, optional, section } from './fields.ts'

export const identity = section('What is sent to the upstream about the caller.', {
  headers: section('Names of the headers that carry it; their values are percent-encoded.', {
    id: headerName({
      default: 'X-User-Id',
      description: 'Account ID; with a token of a foreign issuer its name, a colon, and the subject.',
    }),
    role: headerName({ default: 'X-User-Role', description: 'Role.' }),
    email: optional(headerName({ description: 'E-mail.' })),
    verified: optional(headerName({ description: 'true or false: is the e-mail verified?' })),
    name: optional(headerName({ description: 'First and last name.' })),
    session: optional(headerName({ description: 'Session ID; sent only for a bearer token.' })),
    scheme: optional(headerName({ description: 'secretKey or bearer.' })),
    key: optional(
      headerName({ description: 'Name of the secret key that came, or that the token was got with.' }),
    ),
    scopes: optional(
      headerName({
        description: 'Scopes of the key or token, separated by %20; sent only where it is limited.',
      }),
    ),
    plan: optional(headerName({ description: 'Plan of the account; sent only where it has one.' })),
    issuer: optional(
      headerName({ description: 'Name of the issuer; sent only with a token of a foreign issuer.' }),
    ),
  }),
  assertion: section('A JWT signed by the gateway with the same claims, which the upstream can verify.', {
    enabled: flag(false, 'Whether authorized requests carry one.'),
    header: headerName({ default: 'X-Gatehouse-Assertion', description: 'Name of its header.' }),
    lifetime: duration({
      min: '1s',
      max: '1h',
      default: '60s',
      description: 'Its lifetime; an assertion is reused for half of it.',
    }),
  }),
})
