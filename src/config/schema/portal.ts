import { secondFactorPolicies } from '#identity/second-factor/second-factors.ts'
import {
  choice,
  duration,
  flag,
  integer,
  item,
  list,
  namePattern,
  oneOrMore,
  secret,
  section,
  text,
  tlsTrust,
} from './fields.ts'
import { convert, optional, renamed } from './node.ts'

/** The value of `provision` with which no account is created. */
export const noProvision = 'none'

const provider = item('An OpenID provider.', {
  name: optional(
    text({
      pattern: namePattern,
      description: 'Tells several providers apart, also in their callback URLs; one provider may have none.',
    }),
  ),
  issuer: text({
    description: 'Its URL, exactly as in `issuer` of its metadata: a trailing slash matters.',
  }),
  clientId: text({ description: 'Client ID of this gateway at the provider.' }),
  clientSecret: optional(
    secret({ description: 'Secret of that client; absent = a public client, which has none.' }),
  ),
  provision: convert(
    text({
      default: noProvision,
      description:
        'Role of the account that is created for somebody who has none yet; none = only people with an account can sign in.',
    }),
    (role) => (role === noProvision ? undefined : role),
  ),
  scopes: list(text({ pattern: '^[!#-\\[\\]-~]+$', description: 'A scope.' }), {
    default: ['openid', 'email', 'profile'],
    maxItems: 50,
    uniqueItems: true,
    description: 'Scopes to ask for; openid is required, and the scopes must give access to the e-mail.',
  }),
  label: text({
    pattern: '^[^\\p{Cc}]{1,60}$',
    default: 'single sign-on',
    description: 'Name of the provider that people see on the button and in messages; unique.',
  }),
  passwords: renamed(
    'acceptsPasswords',
    flag(true, 'Whether people may also sign in by password; false at one provider applies to all.'),
  ),
  claims: section('Names of the claims that are read, in the ID token or at the userinfo endpoint.', {
    email: text({ default: 'email', description: 'The e-mail.' }),
    emailVerified: text({
      default: 'email_verified',
      description: 'Whether the provider has verified the e-mail: true or 1.',
    }),
    firstName: text({ default: 'given_name', description: 'The first name, for accounts that are created.' }),
    lastName: text({ default: 'family_name', description: 'The last name.' }),
  }),
})

const oidc = oneOrMore(provider, {
  default: [],
  maxItems: 8,
  description:
    'OpenID provider, or several, at which people sign in to the portal; absent = by password only.',
})

export const colorPattern = '^#[0-9A-Fa-f]{6}$'

const color = (pages: string, absent: string) =>
  optional(
    text({
      pattern: colorPattern,
      description: `Colour of links and buttons on ${pages} pages, as #rrggbb, with a contrast of at least 4.5:1; absent = ${absent}.`,
    }),
  )

const branding = section('Appearance of the portal and its mails.', {
  name: text({
    pattern: '^[^\\p{Cc}]{1,60}$',
    default: 'Gatehouse',
    description: 'Name at the top of every page, in the titles of pages, and in mails.',
  }),
  logo: optional(
    convert(
      item('Image at the top of every page instead of the name, which becomes its alternative text.', {
        file: text({ description: 'Path of an SVG, PNG, JPEG or WebP file of at most 256 KiB.' }),
      }),
      ({ file }, lookup) => Buffer.from(lookup.secret({ file, encoding: 'base64' }), 'base64'),
    ),
  ),
  color: color('light', 'green'),
  darkColor: color('dark', 'color, lightened as needed'),
})

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
      convert(
        text({
          pattern: '^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$',
          description:
            'Host name for the portal alone, with the scheme and port of publicUrl, so that no backend shares its origin. Absent = the portal is on every host.',
        }),
        (host) => host.toLowerCase(),
      ),
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
        'Who must set up two-factor sign-in (an authenticator app or a passkey) before using the portal; everybody may. Until then their sign-in gives no tokens, and those of before are refused; keys are not affected.',
    }),
    setupLinkLifetime: duration({
      min: '1s',
      max: '30d',
      default: '24h',
      description: 'How long a set-up link works, which lets the owner of an account set a password.',
    }),
    resetLinkLifetime: duration({
      min: '1s',
      max: '24h',
      default: '1h',
      description: 'How long a mailed link for a forgotten password works.',
    }),
    branding,
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
      'Whether people get a mail about new sign-ins, resets of their keys and password, and a changed e-mail.',
    ),
    tls: section('TLS to the SMTP server, for starttls and tls.', tlsTrust('the server')),
  }),
)
