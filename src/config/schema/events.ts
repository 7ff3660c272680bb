import { flag, item, list, secret, text } from './fields.ts'

export const events = list(
  item('A receiver of events.', {
    url: text({
      description:
        'Where events are posted to: http:// or https://, without user and fragment; no redirect is followed.',
    }),
    secret: secret({
      description:
        'Signs every event (HMAC-SHA-256, as Standard Webhooks has it): whsec_ and 24 to 64 bytes in base64, or a text of that length.',
    }),
    types: list(
      text({
        description:
          'A type of event, such as account.disabled or audit.signed-in; key.* is all that begin so, * is all.',
      }),
      {
        minItems: 1,
        maxItems: 100,
        description: 'Which events it gets.',
      },
    ),
    allowLocal: flag(
      false,
      'Whether the name in the URL may lead to a loopback or link-local address or a metadata service; a URL that names such an address itself, or localhost, needs it not.',
    ),
  }),
  {
    default: [],
    maxItems: 20,
    description: 'Who is told of changes to keys, accounts and sessions.',
  },
)
