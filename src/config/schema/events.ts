import { flag, item, list, secret, text } from './fields.ts'

export const events = list(
  item('A receiver of events.', {
    url: text({
      description:
        'Where events are posted to: http:// or https://, without user and fragment; no redirect is followed.',
    }),
    secret: secret({
      description:
        'Signs every event (HMAC-SHA-256, by Standard Webhooks): whsec_ and 24 to 64 bytes in base64, or a text of that length.',
    }),
    types: list(
      text({
        description:
          'A type of event, such as account.disabled or audit.signed-in; key.* = all that begin with key., * = all.',
      }),
      {
        minItems: 1,
        maxItems: 100,
        description: 'Which events it gets.',
      },
    ),
    allowLocal: flag(
      false,
      'Whether the host name in the URL may resolve to a loopback or link-local address or a metadata service; not needed if the URL itself names such an address, or localhost.',
    ),
  }),
  {
    default: [],
    maxItems: 20,
    description: 'Receivers of events: changes to keys, accounts and sessions.',
  },
)
