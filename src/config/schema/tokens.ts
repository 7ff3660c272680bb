import { scopePattern } from '#accounts/keys/input.ts'
import { type Algorithm, type KeyMaterial, parseKeyMaterial } from '#identity/tokens/key-material.ts'
import type { ConfiguredKey } from '#identity/tokens/keyring.ts'
import type { Path } from '../problem.ts'
import {
  choice,
  duration,
  either,
  flag,
  integer,
  item,
  list,
  nothing,
  publicPem,
  secret,
  section,
  text,
} from './fields.ts'
import { convert, convertResolved, optional, renamed, type SecretLookup, type ValueOf } from './node.ts'
import type { Review } from './review.ts'

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
  // As written: `resolveSigningKey` needs the references, not both texts.
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

type TokensTree = { readonly tokens: ValueOf<typeof tokenOptions> }
type KeyTree = TokensTree['tokens']['keys'][number]

/** Checks keys from files: exactly one signs, each is valid, and none is too weak. */
export function reviewTokens(review: Review<TokensTree>): void {
  reviewFeed(review)
  const path = ['tokens', 'keys']
  if (!review.hasValidShape(path)) return
  const { keys } = review.tree.tokens
  review.checkUnique(
    keys.map((_, index) => [...path, index, 'kid']),
    (kid) => `duplicate kid "${kid}"`,
  )
  for (const [index, key] of keys.entries()) {
    const at = [...path, index]
    if (review.isValid(at)) reviewMaterial(review, at, key)
  }
  if (keys.length === 0 || !keys.every((_, index) => review.isValid([...path, index, 'use']))) return
  const signers = keys.filter((key) => key.use === 'sign').length
  if (signers !== 1) review.report(path, `exactly one key must have use: sign, not ${signers}`)
}

/** With HS256 there is no public key by which a reader could tell its events from forged ones. */
function reviewFeed({ tree, isValid, report }: Review<TokensTree>): void {
  const path = ['tokens', 'revocationFeed', 'enabled']
  if (!isValid(['tokens', 'algorithm']) || !isValid(path)) return
  if (tree.tokens.revocationFeed.enabled && tree.tokens.algorithm === 'HS256')
    report(path, 'needs ES256, RS256 or EdDSA as tokens.algorithm: nobody could verify what HS256 signs')
}

/** Checks that a key has the half that its use needs, and that its halves can be read and belong together. */
function reviewMaterial(review: Review<TokensTree>, at: Path, key: KeyTree): void {
  if (key.use === 'sign' && !key.private) {
    review.report([...at, 'private'], 'is missing: this key signs')
    return
  }
  if (!key.private && !key.public) review.report([...at, 'public'], 'is missing')
  const ofPrivate = readHalf(review, at, key, 'private')
  const ofPublic = readHalf(review, at, key, 'public')
  // Where both are given, only the private key is used; a public key that differs from it means that one is wrong.
  if (ofPrivate && ofPublic && !isSameKey(ofPrivate, ofPublic))
    review.report([...at, 'public'], 'does not belong to the key in private')
}

/** Keys of different kinds are not compared: OpenSSL would remember that as an error, and fail to read the next key. */
function isSameKey(one: KeyMaterial, other: KeyMaterial): boolean {
  return one.algorithm === other.algorithm && one.publicKey.equals(other.publicKey)
}

/** undefined if the key lacks this half, or it has been reported. */
function readHalf(
  review: Review<TokensTree>,
  at: Path,
  key: KeyTree,
  half: 'private' | 'public',
): KeyMaterial | undefined {
  const path = [...at, half]
  const reference = key[half]
  const text = reference && review.secret(path, reference)
  if (text === undefined || !review.isValid(['tokens', 'algorithm'])) return undefined
  const { algorithm } = review.tree.tokens
  const material = parseKeyMaterial(text, half, algorithm)
  if ('unfit' in material) {
    review.report(path, material.unfit)
    return undefined
  }
  if (half === 'private' && key.use === 'sign' && material.algorithm !== algorithm) {
    review.report(path, `is a key for ${material.algorithm}, but tokens.algorithm is ${algorithm}`)
    return undefined
  }
  return material
}
