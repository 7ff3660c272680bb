import { noPlan } from '#accounts/account-input.ts'
import { defaultKeyPrefix, keyPrefixPattern } from '#platform/secrets/key-format.ts'
import type { SealingKeySource } from '#platform/secrets/sealing-key.ts'
import {
  choice,
  duration,
  flag,
  headerName,
  integer,
  item,
  list,
  named,
  rate,
  secret,
  section,
  text,
} from './fields.ts'
import { convert, optional, renamed, type ValueOf } from './node.ts'
import type { Review } from './review.ts'

export const keys = section('Secret keys and API keys.', {
  accept: list(headerName({ description: 'A header name, `bearer`, `basic` or `certificate`.' }), {
    default: ['SecretKey'],
    minItems: 1,
    maxItems: 16,
    description:
      'Where a secret key is accepted: header names, `bearer` = Authorization: Bearer, `basic` = the password of Authorization: Basic, with any user name, `certificate` = the certificate of the client, if it sent no other credential.',
  }),
  prefix: text({
    pattern: `^${keyPrefixPattern}$`,
    default: defaultKeyPrefix,
    description:
      'How new keys begin: `gate` = gate_sk_… and gate_ak_…; keys with an earlier prefix keep working.',
  }),
  sealingKey: convert(
    secret({
      default: { file: '../data/sealing.key' },
      description:
        'Encrypts stored keys and signs refresh tokens; created at first start, with SQLite only. Replaced by `gatehouse sealing-key rotate`.',
    }),
    (reference, lookup): SealingKeySource =>
      reference.file === undefined
        ? { kind: 'value', value: lookup.secret(reference) }
        : { kind: 'file', file: lookup.resolvePath(reference.file) },
  ),
  reveal: flag(
    true,
    'Whether keys can be shown again; false = a key is shown once, at creation, and no encrypted copy is stored. Copies stored before are kept, but not shown until it is true again; a reset drops the copy of its key.',
  ),
  maxPerAccount: integer({
    minimum: 1,
    maximum: 100,
    default: 20,
    description: 'Maximum number of secret keys per account, the default one included.',
  }),
  remind: renamed(
    'remindMs',
    list(duration({ min: '1h', max: '366d', description: 'A time before the end of a key.' }), {
      default: ['7d', '1d'],
      maxItems: 10,
      description:
        'How long before a secret key expires this is announced: by mail to its owner (with mail.notices) and as event key.expiring, once each. Longer times than the lifetime of a key are skipped.',
    }),
  ),
})

const plan = item('How much an account may use, over all routes and instances.', {
  quota: optional(
    item('Requests in a day or month, or their units (quotaCounts of routes); absent = unlimited.', {
      limit: integer({
        minimum: 1,
        maximum: 1_000_000_000_000,
        description:
          'Number of requests or units; up to 1 % more requests may pass, but never more than 100.',
      }),
      per: choice(['day', 'month'], { description: 'UTC day or month.' }),
    }),
  ),
  rateLimit: optional(
    item(
      'Rate limit, in addition to that of the route; absent = unlimited.',
      rate({ min: '100ms', max: '24h' }),
    ),
  ),
})

export const plans = named(plan, {
  default: {},
  description: 'Plans that accounts may have, by name; an account without one is not limited.',
})

export const identity = section('What is sent to the upstream about the caller.', {
  // Headers that are not sent are left out.
  headers: convert(
    section('Names of the headers that carry it; their values are percent-encoded.', {
      id: headerName({
        default: 'X-User-Id',
        description:
          'Account ID; for a token of a foreign issuer, the name of the issuer, a colon and the subject.',
      }),
      role: headerName({ default: 'X-User-Role', description: 'Role.' }),
      email: optional(headerName({ description: 'E-mail.' })),
      verified: optional(headerName({ description: 'Whether the e-mail is verified: true or false.' })),
      name: optional(headerName({ description: 'First and last name.' })),
      session: optional(headerName({ description: 'Session ID; sent only for a bearer token.' })),
      scheme: optional(headerName({ description: 'secretKey or bearer.' })),
      key: optional(
        headerName({
          description: 'Name of the secret key that was sent, or that the token was exchanged for.',
        }),
      ),
      scopes: optional(
        headerName({
          description: 'Scopes of the key or token, separated by %20; sent only if it has any.',
        }),
      ),
      plan: optional(headerName({ description: 'Plan of the account; sent only if it has one.' })),
      issuer: optional(
        headerName({ description: 'Name of the issuer; sent only with a token of a foreign issuer.' }),
      ),
    }),
    (names) => names,
  ),
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

/** Checks that each plan limits something, and can be assigned to an account. */
export function reviewPlans(review: Review<{ readonly plans: ValueOf<typeof plans> }>): void {
  if (!review.hasValidShape(['plans'])) return
  for (const [name, plan] of Object.entries(review.tree.plans)) {
    const path = ['plans', name]
    if (!review.isValid(path)) continue
    if (name === noPlan)
      review.report(path, `"${noPlan}" is how commands say that an account has no plan`, 'key')
    if (!plan.quota && !plan.rateLimit) review.report(path, 'limits nothing: give quota, rateLimit or both')
  }
}
