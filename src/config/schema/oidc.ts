import { flag, item, list, optional, secret, section, text } from './fields.ts'

export const oidc = optional(
  item('People sign in to the portal at this OpenID provider; absent = by password only.', {
    issuer: text({
      description: 'Its URL, exactly as its metadata have it in `issuer`: a slash at the end matters.',
    }),
    clientId: text({ description: 'Client ID that the provider gave this gateway.' }),
    clientSecret: optional(
      secret({ description: 'Secret of that client; absent = a public client, which has none.' }),
    ),
    provision: text({
      default: 'none',
      description:
        'Role of the account that is made for somebody who has none yet; none = only people with an account sign in.',
    }),
    scopes: list(text({ pattern: '^[!#-\\[\\]-~]+$', description: 'A scope.' }), {
      default: ['openid', 'email', 'profile'],
      maxItems: 50,
      uniqueItems: true,
      description: 'Scopes to ask for; openid is required, and email has to lead to the e-mail.',
    }),
    label: text({
      pattern: '^[^\\p{Cc}]{1,60}$',
      default: 'single sign-on',
      description: 'Name of the provider as people know it, for the button and messages.',
    }),
    passwords: flag(true, 'Whether people may also sign in by password; set-up links need passwords.'),
    claims: section('Names of the claims that are read, in the ID token or at the userinfo endpoint.', {
      email: text({ default: 'email', description: 'The e-mail.' }),
      emailVerified: text({
        default: 'email_verified',
        description: 'Whether the provider has verified the e-mail: true or 1.',
      }),
      firstName: text({ default: 'given_name', description: 'The first name, of accounts that are made.' }),
      lastName: text({ default: 'family_name', description: 'The last name.' }),
    }),
  }),
)
