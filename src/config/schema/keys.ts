import { defaultKeyPrefix, keyPrefixPattern } from '#platform/secrets/format.ts'
import { flag, headerName, integer, list, secret, section, text } from './fields.ts'

export const keys = section('Secret keys and API keys.', {
  accept: list(headerName({ description: 'A header name, `bearer` or `basic`.' }), {
    default: ['SecretKey'],
    minItems: 1,
    maxItems: 16,
    description:
      'Where a secret key may come: header names, `bearer` = Authorization: Bearer, `basic` = the password of Authorization: Basic, whatever the user name.',
  }),
  prefix: text({
    pattern: `^${keyPrefixPattern}$`,
    default: defaultKeyPrefix,
    description:
      'How new keys begin: `gate` = gate_sk_… and gate_ak_…; keys with an earlier prefix keep working.',
  }),
  sealingKey: secret({
    default: { file: '../data/sealing.key' },
    description:
      'Encrypts stored keys and signs refresh tokens; created at first start, with SQLite only. Replaced by `gatehouse sealing-key rotate`.',
  }),
  reveal: flag(
    true,
    'Whether keys can be shown again; false = a key is shown once, at creation, and no encrypted copy is stored. Copies that were stored before are kept, but not shown until it is true again; a reset drops that of its key.',
  ),
  maxPerAccount: integer({
    minimum: 1,
    maximum: 100,
    default: 20,
    description: 'Maximum number of secret keys per account, the default one included.',
  }),
})
