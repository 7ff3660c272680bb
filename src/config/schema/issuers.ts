import { type ClaimPath, issuerAlgorithms, type KeySetSource, tokenTypes } from '#identity/issuers/issuer.ts'
import { choice, either, item, list, named, namePattern, secret, section, text } from './fields.ts'
import { convert, convertResolved, type Field, optional, renamed, type SecretLookup } from './node.ts'

/** The maximum number, as the keys of each are fetched and kept in memory. */
const issuersMax = 50

function claim(description: string, defaultName?: string): Field<string | readonly string[], ClaimPath> {
  const claimName = either(
    text({ description: 'Name of a claim.' }),
    list(text({ description: 'A name.' }), {
      minItems: 1,
      maxItems: 8,
      description: 'Names, outermost first.',
    }),
    {
      description: `${description}; a list names a member within a claim, such as [realm_access, roles].`,
      ...(defaultName !== undefined && { default: defaultName }),
    },
  )
  return convert(claimName, toList)
}

function toList(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value
}

const discovery: KeySetSource = { kind: 'discovery' }
const noKeys: KeySetSource = { kind: 'none' }

const issuer = convertResolved(
  item('A foreign server whose tokens are accepted on the routes that name it.', {
    name: text({
      pattern: namePattern,
      description: 'Unique name: the first part of the IDs of its users, before a colon.',
    }),
    issuer: text({
      description: 'Its URL, exactly as in `iss` of its tokens: a trailing slash matters.',
    }),
    audience: renamed(
      'audiences',
      optional(
        convert(
          either(
            text({ description: 'An audience.' }),
            list(text({ description: 'An audience.' }), {
              minItems: 1,
              maxItems: 32,
              uniqueItems: true,
              description: 'Audiences.',
            }),
            {
              description:
                'What `aud` of its tokens must be or contain: one value, or a list of which any will do. It may be left out only if `require` names a claim; `aud` is then not checked.',
            },
          ),
          toList,
        ),
      ),
    ),
    require: convert(
      named(
        list(text({ description: 'A value; `*` stands for any text.' }), {
          minItems: 1,
          maxItems: 1_000,
          uniqueItems: true,
          description: 'Values, one of which it must have.',
        }),
        {
          default: {},
          maxProperties: 32,
          description:
            'Claims that a token must have, by name, each with one of these values or a list that contains one; true, false and numbers are compared as written in JSON.',
        },
        '^.{1,256}$',
      ),
      Object.entries<readonly string[]>,
    ),
    algorithms: list(choice(issuerAlgorithms, { description: 'An algorithm.' }), {
      default: ['RS256', 'ES256'],
      minItems: 1,
      uniqueItems: true,
      description: 'Algorithms that its tokens may be signed with; never a symmetric one.',
    }),
    tokenType: choice(tokenTypes, {
      default: 'any',
      description:
        'The `typ` of its tokens: `any` = none, `JWT` or `at+jwt`; `at+jwt` = only that (RFC 9068), which no token for another purpose has.',
    }),
    jwks: renamed(
      'keys',
      optional(
        convert(
          item(
            'Where its public keys are: exactly one of url and file. Absent = by discovery at its URL, or none with `introspection`.',
            {
              url: optional(text({ description: 'URL of its JSON Web Key Set.' })),
              file: optional(
                text({ description: 'Path of a file with a JSON Web Key Set; a reload reads it again.' }),
              ),
            },
          ),
          toKeySource,
        ),
      ),
    ),
    introspection: optional(
      item(
        'Token introspection (RFC 7662), for tokens that are not JWTs and, without `jwks`, for its JWTs too. A response is used until `exp`, for a minute at most.',
        {
          url: text({ description: 'URL of its introspection endpoint.' }),
          clientId: text({ description: 'Client ID of this gateway at the issuer.' }),
          clientSecret: secret({ description: 'Secret of that client, sent by Authorization: Basic.' }),
        },
      ),
    ),
    subject: claim('Claim with the subject: 1 to 255 characters', 'sub'),
    role: section('Roles of its users.', {
      claim: optional(
        claim('Claim with names of groups or roles, one or a list; absent = all have the default'),
      ),
      map: convert(
        named(
          text({ description: 'A role.' }),
          {
            default: {},
            maxProperties: 1_000,
            description:
              'Roles by the exact value of the claim; the first that a token has counts. Whole numbers precede other values, the lowest first, whatever the order here.',
          },
          '^.{1,256}$',
        ),
        Object.entries<string>,
      ),
      default: text({ default: 'User', description: 'Role of users without any of these values.' }),
    }),
    scopes: optional(
      claim(
        'Claim with the scopes of a token, as a string separated by spaces or a list; absent = its tokens have none, and pass only routes without `scopes`',
      ),
    ),
    email: optional(
      claim('Claim with the e-mail, which is verified if `email_verified` is true; absent = no e-mail'),
    ),
    registration: optional(
      item(
        'A client at the issuer for programs that need to register themselves but cannot do so there, such as MCP clients: the gateway gives it to each of them, and sends their users to the issuer and back. The issuer has to know the redirect URI `/api/v1/issuers/NAME/callback` of the gateway.',
        {
          clientId: text({ description: 'Client ID of a public client, which has no secret.' }),
          redirectUris: list(text({ description: 'A URI; `http://` on this machine means any port.' }), {
            minItems: 1,
            maxItems: 100,
            uniqueItems: true,
            description: 'Redirect URIs of these programs: no others are registered.',
          }),
        },
      ),
    ),
    plan: optional(
      text({
        description: 'Plan of its users, one of `plans`: each user has its quota and rate; absent = none.',
      }),
    ),
  }),
  ({ audiences = [], introspection, keys = introspection ? noKeys : discovery, ...rest }) => ({
    ...rest,
    audiences,
    keys,
    introspection,
  }),
)

function toKeySource(
  { url, file }: { readonly url?: string; readonly file?: string },
  lookup: SecretLookup,
): KeySetSource {
  if (url !== undefined) return { kind: 'url', url }
  if (file !== undefined) return { kind: 'file', text: lookup.secret({ file }) }
  return discovery
}

export const issuers = list(issuer, {
  default: [],
  maxItems: issuersMax,
  description:
    'Foreign issuers of bearer tokens, such as an OpenID provider. A route accepts those that it names.',
})
