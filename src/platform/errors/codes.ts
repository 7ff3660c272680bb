/** What an error response says, and what failure-modes.md adds for operators. */
export interface ErrorDefinition {
  readonly status: number
  readonly title: string
  /** Sent to the client; never anything about the upstream or the store, and of a credential only its form. */
  readonly detail?: string
  /** What to look at, for docs/failure-modes.md. */
  readonly check: string
  /** The operations of the JSON endpoints that can answer with it without listing it in their `problems`. */
  readonly operations?: 'all' | 'with-body' | 'for-admins'
  /** Shown in the portal's form that was refused; every other error gets an error page. */
  readonly atForms?: true
}

/** All error codes, one table: the contract of every problem+json response (RFC 9457). */
export const errorDefinitions = {
  'request-invalid': {
    status: 400,
    title: 'Invalid request',
    detail: 'The request, or a member of its body, does not match what this endpoint accepts.',
    check:
      'The `errors` list names each member of the body, a header, `body` or `request`, and what is wrong.',
    operations: 'all',
    atForms: true,
  },
  'path-ambiguous': {
    status: 400,
    title: 'The path is ambiguous',
    detail:
      'The path has dot segments, an empty segment, a backslash, a control character, a fragment, a broken escape, an encoded slash that the route rejects, or it would match another route after case folding, decoding of escapes or removal of parameters (;).',
    check:
      'Servers interpret such paths differently, so the gateway does not guess. The detail says which rule the path breaks; `explain` and the reason in the log name the other route. If the backend treats paths as case-sensitive, set `caseSensitive: true` on the route.',
    operations: 'all',
  },
  'credentials-ambiguous': {
    status: 400,
    title: 'More than one credential',
    detail: 'Send one credential, once: either a secret key or an access token.',
    check:
      'Whether a proxy or a client library adds a second header to the one you set. Every place in `keys.accept` is a credential, and so is `Authorization: Bearer`.',
    operations: 'for-admins',
  },
  'credentials-misplaced': {
    status: 400,
    title: 'A credential of the gateway is in the wrong place',
    detail:
      "Authorization is passed on to the service behind this path, so it must not hold a key or token of the gateway. Send the secret key in its own header, and only the service's credential in Authorization.",
    check:
      '`authorization: backend` of the route, and which header the client uses: `keys.accept` names those for keys. An access token is accepted there only in the access cookie.',
  },
  'credentials-missing': {
    status: 401,
    title: 'Credentials are missing',
    detail: 'This path requires a secret key or an access token; see WWW-Authenticate.',
    check:
      'Whether the header reaches the gateway: proxies in front of it may drop headers they do not know. A key in the query or a presigned URL is not a credential: the response says so.',
    operations: 'for-admins',
  },
  'credentials-invalid': {
    status: 401,
    title: 'The keys are not valid',
    detail:
      'SecretKey and APIKey are not a valid pair of one account. A secret key begins with …_sk_ (or gsk_), an API key with …_ak_ (or gak_).',
    check: 'Whether both keys belong to one account and neither has been reset: `gatehouse keys show ID`.',
    atForms: true,
  },
  'secret-key-invalid': {
    status: 401,
    title: 'The secret key is not valid',
    detail: 'The secret key is malformed, unknown or has been reset.',
    check: 'Whether the key is complete (its last part is a checksum) and has not been reset.',
    operations: 'for-admins',
  },
  'secret-key-expired': {
    status: 401,
    title: 'The secret key has expired',
    detail: 'The secret key has expired: use another one.',
    check:
      'The line in the log names the account, and its `reason` the key. `gatehouse keys list ID` shows when each expires; `keys create` makes another.',
    operations: 'for-admins',
  },
  'token-invalid': {
    status: 401,
    title: 'The access token is not valid',
    detail: 'The access token is malformed, or its issuer is not accepted here.',
    check:
      'The `reason` in the log. Whether `iss` and `aud` match `tokens.issuer` and `tokens.audience`, `kid` is in the JWKS, and the clocks of the instances agree; for a token of a foreign issuer, whether the route names it in `issuers`, and [its page](issuers.md).',
    operations: 'for-admins',
  },
  'token-expired': {
    status: 401,
    title: 'The access token has expired',
    detail: 'Refresh the access token.',
    check: 'Whether the client refreshes in time, and clocks differ by less than `tokens.clockTolerance`.',
    operations: 'for-admins',
  },
  'token-revoked': {
    status: 401,
    title: 'The access token has been revoked',
    detail: 'The session or account of this access token has ended or changed.',
    check:
      'Whether the session was revoked, the role changed, the key was reset, or the account was disabled or lacks a second factor that is required.',
    operations: 'for-admins',
  },
  'proof-missing': {
    status: 401,
    title: 'The access token is bound to a key',
    detail:
      'The access token is bound to a key: send it as Authorization: DPoP, with a proof in the DPoP field.',
    check:
      'Whether the client speaks DPoP (RFC 9449), and a proxy in front passes `DPoP` and `Authorization` on: [sender-constrained tokens](sender-constrained.md).',
    operations: 'for-admins',
  },
  'proof-invalid': {
    status: 401,
    title: 'The proof of the key is not valid',
    detail:
      'The DPoP field must hold one new proof for this request (its method, URL, the time and this access token), signed with the key that the token is bound to.',
    check:
      'The `reason` in the log. `htu` must be the URL that the client uses: behind a proxy `publicUrl` or `X-Forwarded-*` of `trustedProxies` must say so. Whether the client, or a proxy that retries, sends a proof twice: each is accepted once. Whether its clock is right: `dpop.proofLifetime`.',
    operations: 'for-admins',
  },
  'proof-nonce-required': {
    status: 401,
    title: 'The proof of the key needs a nonce',
    detail: 'Send the request again with a new proof whose nonce claim is the value of DPoP-Nonce.',
    check:
      'Whether the client uses the nonce that it is sent: with `dpop.nonce`, each client gets one this way, and a new one from time to time.',
    operations: 'for-admins',
  },
  'certificate-required': {
    status: 401,
    title: 'The access token is bound to a certificate',
    detail: 'The access token is bound to a certificate: use that certificate for the TLS connection.',
    check:
      'The `reason` in the log. `listen.tls.clientCa` must contain the CA of the certificate; where a proxy terminates TLS, `clientCertificateHeader` and `trustedProxies` must be right: [sender-constrained tokens](sender-constrained.md).',
    operations: 'for-admins',
  },
  'certificate-unknown': {
    status: 401,
    title: 'The certificate belongs to no account',
    detail: 'The client certificate does not belong to any account.',
    check:
      'The `reason` in the log has its SHA-256 as base64url: `gatehouse keys create --certificate` gives it to an account ([how](sender-constrained.md#certificates-as-keys)). Whether its key was revoked: `gatehouse keys list ID`.',
    operations: 'for-admins',
  },
  'scheme-not-accepted': {
    status: 401,
    title: 'This kind of credential is not accepted here',
    detail: 'This path accepts another kind of credential; see WWW-Authenticate.',
    check: '`auth` of the route, and `keys.accept`: where a secret key may come.',
    operations: 'for-admins',
  },
  'refresh-token-invalid': {
    status: 401,
    title: 'The refresh token is not valid',
    detail: 'The refresh token is malformed or was not issued by this gateway.',
    check:
      'Whether the token is complete, and `keys.sealingKey` has not been replaced since it was issued (unless by `gatehouse sealing-key rotate`).',
  },
  'refresh-token-expired': {
    status: 401,
    title: 'The refresh token has expired',
    detail: 'The session has expired: get a new access token with the keys.',
    check: '`tokens.refreshLifetime` and `tokens.refreshIdle`.',
  },
  'refresh-token-reused': {
    status: 401,
    title: 'The refresh token was used before',
    detail: 'A refresh token that was already rotated was used again, so its session has been revoked.',
    check:
      'Whether two clients share one token, or it was stolen. A client must keep the token of the latest response; `tokens.reuseGrace` covers lost responses, and instances whose clocks differ by less than that.',
  },
  'session-revoked': {
    status: 401,
    title: 'The session has been revoked',
    detail: 'The session has ended: get a new access token with the keys.',
    check:
      '`gatehouse sessions list`: the session was revoked, or its account was disabled, deleted or given a new secret key.',
  },
  'route-denied': {
    status: 403,
    title: 'This path is closed',
    detail: 'This path is closed to all callers, whatever the credential.',
    check: '`auth: deny` of the route that `explain` names; a route with a longer path can open part of it.',
  },
  'role-forbidden': {
    status: 403,
    title: 'The role is not allowed',
    detail: 'The role of this account is not allowed on this path.',
    check: '`roles` of the route, and the role in `gatehouse accounts show`.',
    operations: 'for-admins',
  },
  'scope-forbidden': {
    status: 403,
    title: 'The scopes are not sufficient',
    detail: 'The key or token is limited to scopes that do not include this path.',
    check:
      '`scopes` of the route, and those of the key in `gatehouse keys list ID`. A key with scopes passes only where a route names scopes.',
    operations: 'for-admins',
  },
  'address-forbidden': {
    status: 403,
    title: 'The key is not accepted from this address',
    detail: 'The secret key is limited to other client addresses.',
    check:
      'The addresses of the key in `gatehouse keys list ID`, and the client address in the log: behind proxies it is right only with `trustedProxies`.',
    operations: 'for-admins',
  },
  'destination-forbidden': {
    status: 403,
    title: 'The destination is not allowed',
    detail:
      'A second target, as in Destination or X-Amz-Copy-Source, must be one unambiguous URL or path on this host that the caller may use and that belongs to the same backend.',
    check:
      'The reason in the log, and `explain` with `-H "Destination: …"` or the field that the reason names. Behind a proxy that terminates TLS, `publicUrl` or `X-Forwarded-Proto` must say https.',
  },
  'account-unverified': {
    status: 403,
    title: 'The account is not verified',
    detail: 'This path is for accounts with a verified e-mail.',
    check: '`gatehouse accounts update ID --verified true`, or `verifiedOnly` of the route.',
  },
  'account-disabled': {
    status: 403,
    title: 'The account is disabled',
    detail: 'The account is disabled.',
    check: 'The line in the log names the account: `gatehouse accounts update ID --disabled false`.',
    operations: 'for-admins',
    atForms: true,
  },
  'subject-blocked': {
    status: 403,
    title: 'The caller is blocked',
    detail: 'This user of the issuer is blocked.',
    check: '`gatehouse subjects list`; `gatehouse subjects unblock ISSUER SUBJECT`.',
  },
  'cross-site-refresh': {
    status: 403,
    title: 'Cross-site request refused',
    detail: 'The cookie is not accepted in cross-site requests; send the token in the body.',
    check: 'Whether the page is served from the origin in `publicUrl`.',
  },
  'cross-site-request': {
    status: 403,
    title: 'Cross-site request refused',
    detail: 'The form is not from this portal, or it is too old: load the page again.',
    check:
      'Whether the portal is opened at the origin in `publicUrl`, and the browser sends `Origin` or `Sec-Fetch-Site`. Where a key came in `Authorization: Basic` or as a certificate, a page of another origin sent it: see [browsers](browsers.md#keys-in-authorization-basic).',
    operations: 'for-admins',
  },
  'service-worker-refused': {
    status: 403,
    title: 'Service worker refused',
    detail:
      'A service worker at this path could control the pages of the portal on this origin: serve its script from a folder of its own.',
    check:
      'Where the script is: a service worker reaches everything below the folder of its script. Serve it from below the application, such as /app/sw.js, or give the portal another path.',
  },
  'sign-in-refused': {
    status: 403,
    title: 'The sign-in was refused',
    detail: 'The sign-in was not completed: start again.',
    check:
      '`portal.oidc`, and the log entry, which has the reason: a sign-in that took longer than 10 minutes or was started in another browser, an unverified e-mail, no matching account, or an invalid response from the OpenID provider.',
  },
  'link-invalid': {
    status: 403,
    title: 'The link is no longer valid',
    detail: 'The link has expired, was already used or has been replaced. Ask for another.',
    check:
      'Only the latest link is valid, and only once: a set-up link for `portal.setupLinkLifetime` (24 h), the link for a forgotten password for `portal.resetLinkLifetime` (1 h), a verification link for an hour. A link that was mailed ends when the account gets another e-mail.',
    atForms: true,
  },
  'route-not-found': {
    status: 404,
    title: 'No matching route',
    detail: 'No route matches this path.',
    check: '`path` and `host` of the routes; prefixes match whole segments.',
  },
  'account-not-found': {
    status: 404,
    title: 'No such account',
    detail: 'There is no account with this ID or e-mail.',
    check: '`gatehouse accounts list`.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The method is not allowed here',
    detail: 'This path does not support this method; see Allow.',
    check:
      '`methods` of the route. TRACE and CONNECT are never accepted. A WebSocket over HTTP/2 is a CONNECT, unless the route has `websocket: true`.',
  },
  'account-exists': {
    status: 409,
    title: 'The account already exists',
    detail: 'An account with this e-mail already exists.',
    check: 'E-mails are compared ignoring case.',
    atForms: true,
  },
  'own-account': {
    status: 409,
    title: 'Not allowed on your own account',
    detail:
      'An Admin cannot disable, delete or demote their own account, or remove their second factor without a code. Ask another Admin.',
    check:
      'This keeps an Admin from removing the last one by mistake, and anybody at their browser from removing the second factor. The command line can change any account (but see `last-admin`). With a code, the second factor is turned off in *Profile*. People who are signed in to the portal change their own account and keys there, where it asks for the password.',
    atForms: true,
  },
  'last-admin': {
    status: 409,
    title: 'Not allowed for the last Admin',
    detail: 'No enabled Admin would be left. Make another account an Admin first.',
    check:
      'Give another account the role first: `gatehouse accounts update ID|EMAIL --role Admin`, or enable one that has it. This applies to commands too.',
    atForms: true,
  },
  'body-too-large': {
    status: 413,
    title: 'The body is too large',
    detail: 'The request body is larger than this path accepts.',
    check: '`maxBody` of the route (64 KiB on the endpoints of the gateway).',
    operations: 'with-body',
  },
  'media-type-unsupported': {
    status: 415,
    title: 'The media type is not supported',
    detail: 'Send Content-Type: application/json, without a Content-Encoding.',
    check: 'Whether the client sends JSON in UTF-8 with that Content-Type.',
    operations: 'with-body',
  },
  'headers-too-large': {
    status: 431,
    title: 'The header fields are too large',
    detail: 'The request line and header fields are larger than the gateway accepts.',
    check: '`limits.headers`; a client that piles up cookies.',
    operations: 'all',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    detail:
      'This path, or the plan of the account, allows fewer requests; Retry-After says when to try again.',
    check:
      '`rateLimit` of the route, or of the plan of the account if the `reason` in the log says so; `gatehouse_rate_limited_total`.',
    atForms: true,
  },
  'quota-exceeded': {
    status: 429,
    title: 'The quota is used up',
    detail:
      'The quota of the key, or of the plan of its account, is used up; Retry-After says when the next day or month begins.',
    check:
      'The `reason` in the log says which; `gatehouse usage ID` shows both. `gatehouse accounts update --plan` gives the account another plan; `keys create --quota` makes a key with another quota.',
  },
  'too-many-failures': {
    status: 429,
    title: 'Too many invalid credentials',
    detail: 'Too many invalid credentials were sent from this address; a valid one is still accepted.',
    check:
      '`limits.failures`; a client that still uses a key that was reset; `gatehouse_rate_limited_total`.',
    operations: 'for-admins',
    atForms: true,
  },
  'request-timeout': {
    status: 408,
    title: 'The request took too long to arrive',
    detail: 'The request did not arrive in time.',
    check: '`listen.requestTimeout` and `limits.bodyRate`; a slow or broken network.',
    operations: 'with-body',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    check:
      'A bug in the gateway, or a damaged record in the store. The log entry with this `requestId` has the stack trace; please report it.',
    operations: 'all',
  },
  'upstream-unreachable': {
    status: 502,
    title: 'The service is unreachable',
    detail: 'The service behind this path cannot be reached.',
    check: 'Whether the target runs and listens; its address, its certificate, and `tls` of the upstream.',
  },
  'upstream-invalid-response': {
    status: 502,
    title: 'Invalid response from the service',
    detail: 'The service behind this path returned an invalid response.',
    check:
      'The `reason` in the log, such as closed too early, contradictory lengths, not HTTP/1.1; over HTTP/2 also a WebSocket that the backend has not accepted.',
  },
  'upstream-unavailable': {
    status: 503,
    title: 'The service is unavailable',
    detail: 'The service behind this path cannot handle the request at the moment.',
    check:
      'The `reason` in the log: no target is healthy (see `gatehouse_upstream_target_healthy`; a separate log line says why), or which share of `connections` is in use (all of them, or that of an account, a client network or an HTTP/2 connection): the targets are slow, or too few.',
  },
  'store-unavailable': {
    status: 503,
    title: 'Credential store unavailable',
    detail: 'The credential cannot be checked at the moment; it was not rejected.',
    check: '`/readyz` and `gatehouse_store_up`; the store is unavailable.',
    operations: 'for-admins',
  },
  'issuer-unavailable': {
    status: 503,
    title: 'The issuer of the token is unavailable',
    detail: 'The token cannot be checked at the moment; it was not rejected.',
    check:
      'The log entry of the issuer (`keys of the issuer cannot be fetched`, `introspection fails`) and `gatehouse_issuer_up`: its keys were never fetched, the token names an unknown key and they cannot be fetched now, or introspection failed. At `/api/v1/issuers/NAME` (`registration`), the `reason` in the log.',
  },
  'sign-in-busy': {
    status: 503,
    title: 'Too many sign-ins at once',
    detail: 'Too many passwords are being checked at the moment; try again in a second.',
    check:
      'A flood of sign-ins: passwords are checked a few at a time, so that they do not slow down other requests.',
    atForms: true,
  },
  'sign-in-provider-unavailable': {
    status: 503,
    title: 'The sign-in service is not responding',
    detail: 'The service that you sign in with is not responding: try again in a moment.',
    check:
      'Whether the gateway can reach the OpenID provider at `portal.oidc.issuer`; the log entry has the reason. People who are signed in are not affected.',
  },
  'mail-unavailable': {
    status: 503,
    title: 'Mail cannot be sent',
    detail: 'The mail cannot be sent at the moment; an Admin can verify the e-mail.',
    check: '`mail` in the config, and the log entry, which has the error of the mail server.',
    atForms: true,
  },
  'shutting-down': {
    status: 503,
    title: 'The gateway is shutting down',
    detail: 'The gateway is shutting down; try again.',
    check: 'Whether `shutdown.drain` is long enough: the request was still in flight when it ended.',
  },
  'upstream-timeout': {
    status: 504,
    title: 'The service did not respond in time',
    detail: 'The service behind this path did not respond in time.',
    check: '`timeouts` of the upstream and of the route.',
  },
} as const satisfies Record<string, ErrorDefinition>

export type ErrorCode = keyof typeof errorDefinitions
