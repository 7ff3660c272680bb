import { choice, duration, flag, integer, item, optional, secret, section, text } from './fields.ts'

export const portal = section(
  'Pages where people sign in, see and reset their keys, and Admins manage accounts.',
  {
    enabled: flag(true, 'Whether there is a portal.'),
    path: text({
      pattern: '^(?:/[A-Za-z0-9._~-]+)+$',
      default: '/portal',
      description: 'Where it is; everything below belongs to it.',
    }),
    sessionLifetime: duration({
      min: '1s',
      max: '30d',
      default: '12h',
      description: 'After this people sign in again.',
    }),
  },
)

export const mail = optional(
  item('A mail server, to verify e-mails; absent = an Admin verifies them.', {
    host: text({ description: 'Name or address of the SMTP server.' }),
    port: integer({ minimum: 1, maximum: 65_535, default: 587, description: 'Its port.' }),
    security: choice(['starttls', 'tls', 'none'], {
      default: 'starttls',
      description:
        'starttls requires it, tls begins with the first byte, none is for a server on this machine.',
    }),
    username: optional(text({ description: 'Who signs in there; absent = nobody.' })),
    password: optional(secret({ description: 'The password for it.' })),
    from: text({ description: 'Sender of the mails, such as gatehouse@example.com.' }),
    tls: section('For starttls and tls.', {
      verify: flag(true, "Whether the server's certificate is checked."),
      ca: optional(secret({ description: 'Certificates (PEM) to trust instead of the system ones.' })),
    }),
  }),
)
