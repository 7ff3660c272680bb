import { secondFactorPolicies } from '#identity/second-factor/policy.ts'
import { choice, duration, flag, integer, item, optional, secret, section, text } from './fields.ts'
import { oidc } from './oidc.ts'

export const portal = section(
  'The web portal: users sign in, see and reset their keys, and Admins manage accounts.',
  {
    enabled: flag(true, 'Whether the portal is enabled.'),
    path: text({
      pattern: '^(?:/[A-Za-z0-9._~-]+)+$',
      default: '/portal',
      description: 'Its path; every path below belongs to it too.',
    }),
    host: optional(
      text({
        pattern: '^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$',
        description:
          'A host name of its own for the portal, with the scheme and port of publicUrl: then no backend shares its origin. Absent = the portal is on every host.',
      }),
    ),
    sessionLifetime: duration({
      min: '1s',
      max: '30d',
      default: '12h',
      description: 'How long users stay signed in.',
    }),
    requireSecondFactor: choice(secondFactorPolicies, {
      default: 'nobody',
      description:
        'Who must set up one-time codes (TOTP) before using the portal; everybody may. Keys and tokens are not affected.',
    }),
    setupLinkLifetime: duration({
      min: '1s',
      max: '30d',
      default: '24h',
      description: 'How long a set-up link works, with which the owner of an account sets a password.',
    }),
    resetLinkLifetime: duration({
      min: '1s',
      max: '24h',
      default: '1h',
      description: 'How long a link works that is mailed to somebody who forgot the password.',
    }),
    oidc,
  },
)

export const mail = optional(
  item('Mail server for verifying e-mails; absent = no mail is sent, and an Admin verifies e-mails.', {
    host: text({ description: 'Name or address of the SMTP server.' }),
    port: integer({ minimum: 1, maximum: 65_535, default: 587, description: 'Port of the SMTP server.' }),
    security: choice(['starttls', 'tls', 'none'], {
      default: 'starttls',
      description:
        'starttls = STARTTLS is required, tls = TLS from the first byte, none = no TLS, for a server on this machine.',
    }),
    username: optional(text({ description: 'User name for the SMTP server; absent = no sign-in.' })),
    password: optional(secret({ description: 'Password of that user.' })),
    from: text({ description: 'Sender of the mails, such as gatehouse@example.com.' }),
    notices: flag(
      true,
      'Whether people are told by mail of new sign-ins, of resets of their keys and password, and of a changed e-mail.',
    ),
    tls: section('TLS to the SMTP server, for starttls and tls.', {
      verify: flag(true, "Whether the server's certificate is checked."),
      ca: optional(secret({ description: 'Certificates (PEM) to trust instead of the system ones.' })),
    }),
  }),
)
