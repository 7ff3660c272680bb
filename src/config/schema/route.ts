import { choice, duration, flag, integer, item, list, namePattern, optional, size, text } from './fields.ts'

export const route = item('Sends matching requests to an upstream.', {
  name: text({ pattern: namePattern, description: 'Unique name, seen in logs and metrics.' }),
  host: optional(
    text({ description: 'Host name that a request must have, ignoring port and case; absent = any.' }),
  ),
  path: text({
    pattern: '^/',
    description:
      'Prefix on whole segments, without wildcards: `/admin` matches itself and everything below it. The longest wins; of equal ones, a route with a host wins.',
  }),
  methods: optional(
    list(text({ description: 'An HTTP method.' }), {
      minItems: 1,
      uniqueItems: true,
      description:
        'Methods it accepts; GET includes HEAD; absent = any that no other route with the same host and path names.',
    }),
  ),
  upstream: text({ description: 'Name of the upstream.' }),
  auth: choice(['secretKey', 'bearer', 'any', 'optional', 'none'], {
    description:
      'Which credentials it accepts: any = either kind, optional = either kind or none at all, none = public, credentials are not looked at.',
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
  encodedSlash: choice(['auto', 'reject', 'pass'], {
    default: 'auto',
    description:
      'Whether a path with %2F or %5C in it is rejected or passed on. auto and pass do the same: one that would match another route once it is decoded is refused all the same.',
  }),
  caseSensitive: flag(
    false,
    'Whether the backend tells /Orders from /orders. If not, a path that would match another route without regard to case is refused.',
  ),
  methodOverride: choice(['drop', 'pass'], {
    default: 'drop',
    description:
      'Whether X-HTTP-Method-Override, X-HTTP-Method and X-Method-Override reach the upstream, which may then carry out another method than the route accepted.',
  }),
  trailers: choice(['drop', 'pass'], {
    default: 'drop',
    description:
      'What becomes of the trailer fields of requests. Backends that do not read them take them for another request, so pass is only for those that do; such requests get a connection of their own. Trailer fields of answers always pass.',
  }),
  forwardCredentials: flag(false, 'Whether SecretKey and Authorization reach the upstream.'),
  rateLimit: optional(
    item('How many requests may pass, counted across instances; absent = any number.', {
      limit: integer({ minimum: 1, maximum: 1_000_000_000, description: 'How many may come at once.' }),
      per: duration({
        min: '100ms',
        max: '24h',
        description: 'Time in which a used-up limit is restored, evenly.',
      }),
      by: choice(['account', 'ip'], {
        default: 'account',
        description:
          'What is counted: requests of each account (without one, of each client address), or of each client address.',
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
        duration({
          min: '10ms',
          max: '24h',
          description: 'From the end of the request to the head of the response.',
        }),
      ),
    }),
  ),
})
