import { choice, duration, flag, integer, item, list, namePattern, optional, size, text } from './fields.ts'

export const route = item('Sends matching requests to an upstream.', {
  name: text({ pattern: namePattern, description: 'Unique name, seen in logs and metrics.' }),
  host: optional(
    text({ description: 'Host name it is for, compared ignoring port and case; absent = any.' }),
  ),
  path: text({
    pattern: '^/',
    description:
      'Prefix on whole segments, without wildcards: `/admin` takes all that is below it. The longest wins, one with a host before one without.',
  }),
  methods: optional(
    list(text({ description: 'An HTTP method.' }), {
      minItems: 1,
      uniqueItems: true,
      description:
        'Methods it takes; GET includes HEAD; absent = any that no other route of this host and path names.',
    }),
  ),
  upstream: text({ description: 'Name of the upstream.' }),
  auth: choice(['secretKey', 'bearer', 'any', 'optional', 'none'], {
    description: 'Which credentials it takes; optional lets their absence pass, none does not look.',
  }),
  roles: optional(
    list(text({ description: 'A role.' }), {
      minItems: 1,
      uniqueItems: true,
      description: 'Roles that may pass; absent = any.',
    }),
  ),
  verifiedOnly: flag(false, 'Whether only accounts with a verified e-mail may pass.'),
  stripPrefix: flag(false, 'Whether the path prefix is taken off before forwarding.'),
  websocket: flag(false, 'Whether Upgrade: websocket is proxied too.'),
  encodedSlash: choice(['reject', 'pass'], {
    default: 'reject',
    description: 'What happens to %2F and %5C in the path.',
  }),
  forwardCredentials: flag(false, 'Whether SecretKey and Authorization reach the upstream.'),
  rateLimit: optional(
    item('How many requests may pass, counted across instances; absent = any number.', {
      limit: integer({ minimum: 1, maximum: 1_000_000_000, description: 'How many may come at once.' }),
      per: duration({ min: '100ms', max: '24h', description: 'Within this time as many may come again.' }),
      by: choice(['account', 'ip'], {
        default: 'account',
        description: 'Who is counted: the account (or, for nobody, the address), or the client address.',
      }),
    }),
  ),
  maxBody: size({
    min: '0B',
    max: '1024GiB',
    alternative: 'unlimited',
    default: '10MiB',
    description: 'Largest request body, or unlimited.',
  }),
  timeouts: optional(
    item('Overrides of the timeouts of the upstream.', {
      response: optional(
        duration({ min: '10ms', max: '24h', description: 'Until the head of the response.' }),
      ),
    }),
  ),
})
