import { scopePattern } from '#accounts/keys/input.ts'
import { type Algorithm, parseKeyMaterial } from '#identity/tokens/key-material.ts'
import type { ConfiguredKey } from '#identity/tokens/keyring.ts'
import {
  choice,
  duration,
  either,
  exactly,
  flag,
  headerNamePattern,
  integer,
  item,
  list,
  nothing,
  publicPem,
  secret,
  section,
  text,
  trueOrFalse,
} from './fields.ts'
import { convert, convertResolved, optional, renamed, type SecretLookup, type ValueOf } from './node.ts'

const signingKey = item('A signing key from a file.', {
  kid: text({ pattern: '^[A-Za-z0-9._~-]{1,128}$', description: 'Key ID, unique.' }),
  private: optional(
    secret({ description: 'Private key (PEM), or the secret of HS256; needed with use: sign.' }),
  ),
  public: optional(
    publicPem({
      description: 'Public key (PEM); enough with use: verify. With `private`, it must belong to that key.',
    }),
  ),
  use: choice(['sign', 'verify'], {
    description: 'sign = signs new tokens (exactly one key); every key verifies.',
  }),
})

const tokenOptions = section('Access and refresh tokens.', {
  issuer: either(text({ description: 'An issuer.' }), nothing, {
    default: null,
    description: 'The iss claim; null = publicUrl.',
  }),
  audience: text({ default: 'gatehouse', description: 'The aud claim.' }),
  algorithm: choice(['ES256', 'RS256', 'EdDSA', 'HS256'], {
    default: 'ES256',
    description: 'Algorithm of the signing keys.',
  }),
  accessLifetime: duration({
    min: '1s',
    max: '24h',
    default: '10m',
    description: 'Lifetime of an access token.',
  }),
  refreshLifetime: duration({
    min: '1s',
    max: '3650d',
    default: '30d',
    description: 'Lifetime of a session, never extended by rotation.',
  }),
  refreshIdle: duration({
    min: '1s',
    max: '3650d',
    default: '7d',
    description: 'A session that is not refreshed for this long ends.',
  }),
  reuseGrace: duration({
    min: '0s',
    max: '10m',
    default: '10s',
    description: 'Grace period in which the previous refresh token still returns the current one; 0s = none.',
  }),
  introspection: section('Who may ask about tokens by introspection (RFC 7662).', {
    roles: list(text({ description: 'A role.' }), {
      default: ['Admin'],
      minItems: 1,
      uniqueItems: true,
      description: 'Roles of the callers.',
    }),
    scopes: list(text({ pattern: scopePattern, description: 'A scope.' }), {
      default: ['introspect'],
      maxItems: 32,
      uniqueItems: true,
      description: 'Scopes that a key or token must all have, if it has any; one without scopes passes.',
    }),
  }),
  revocationFeed: section(
    'A signed stream of revocations at /api/v1/revocations, for backends that check assertions or tokens themselves; callers that `introspection` allows may read it.',
    {
      enabled: flag(false, 'Whether the stream is available.'),
      readers: renamed(
        'readersMax',
        integer({
          minimum: 1,
          maximum: 10_000,
          default: 100,
          description: 'How many may read it at the same time, per worker.',
        }),
      ),
    },
  ),
  clockTolerance: duration({
    min: '0s',
    max: '5m',
    default: '5s',
    description: 'Allowed clock skew.',
  }),
  keys: convert(
    list(signingKey, {
      default: [],
      description: 'Signing keys from files; an empty list = keys are created and kept in the store.',
    }),
    (keys) => keys,
  ),
})

export const tokens = convertResolved(tokenOptions, ({ keys, ...options }, lookup) => ({
  ...options,
  keys: keys.map((key) => resolveSigningKey(key, options.algorithm, lookup)),
}))

export const dpop = section('Access tokens that are bound to a key of their client (DPoP, RFC 9449).', {
  proofLifetime: duration({
    min: '1s',
    max: '10m',
    default: '60s',
    description:
      'Maximum age of a proof, with tokens.clockTolerance on both sides. Proofs are remembered for as long, since each is accepted once.',
  }),
  nonce: flag(
    false,
    'Whether proofs must contain a nonce of the gateway, so that none can be made in advance. Clients learn it from a refusal, and send their request again.',
  ),
})

/** If a key has both halves, the private one is used. */
function resolveSigningKey(
  { kid, use, private: privateKey, public: publicKey }: ValueOf<typeof signingKey>,
  algorithm: Algorithm,
  lookup: SecretLookup,
): ConfiguredKey {
  const reference = privateKey ?? publicKey
  if (!reference) throw new Error('a key without private or public part passed validation')
  const material = parseKeyMaterial(lookup.secret(reference), privateKey ? 'private' : 'public', algorithm)
  if ('unfit' in material) throw new Error('an invalid key passed validation')
  return { kid, use, material }
}

export const accessCookie = section(
  'Also sends the access token as an HttpOnly cookie, for routes with `browser.cookie`. After a sign-in at the portal it is renewed by requests in its second half. Its SameSite and Secure attributes are those of `cookie`.',
  {
    enabled: flag(false, 'Whether it is set with every access token, and by the sign-in of the portal.'),
    name: text({
      pattern: headerNamePattern,
      default: 'accessToken',
      description:
        'Its name; one that begins with __Host- or __Secure- must meet the rules of that prefix. No backend gets it, or can set it.',
    }),
    path: text({
      pattern: '^/[!-:<-~]*$',
      default: '/',
      description: 'Path attribute: the routes with `browser.cookie` must be at or below it.',
    }),
    lifetime: duration({
      min: '1s',
      max: '24h',
      default: '1h',
      description:
        'Lifetime of its token. A request in the second half of it renews the cookie, as long as the session lasts.',
    }),
  },
)

export const cookie = section('The cookie that carries the refresh token.', {
  name: text({
    pattern: headerNamePattern,
    default: 'refreshToken',
    description: 'Its name; one that begins with __Host- or __Secure- must meet the rules of that prefix.',
  }),
  path: text({
    pattern: '^/[!-:<-~]*$',
    default: '/api/v1/accounts',
    description:
      'Path attribute: browsers send the cookie to refresh-token and revoke-token only if these are at or below it.',
  }),
  sameSite: choice(['Strict', 'Lax', 'None'], { default: 'Strict', description: 'SameSite attribute.' }),
  secure: either(exactly('auto'), trueOrFalse, {
    default: 'auto',
    description: 'Secure attribute: true, false, or auto = when publicUrl is https.',
  }),
})
