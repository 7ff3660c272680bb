import t from 'tap'
import { newIssuerKey } from '../../identity/issuers/issuer-server.ts'
import { load, minimalConfig, type Options, problemMessages } from '../config-fixtures.ts'

const corp = { name: 'corp', issuer: 'https://id.example.com', audience: 'orders' }
const route = { name: 'orders', path: '/', upstream: 'backend', auth: 'bearer', issuers: ['corp'] }
const { jwk } = await newIssuerKey('one')
const introspection = {
  url: 'https://id.example.com/introspect',
  clientId: 'gateway',
  clientSecret: { file: 'secret' },
}
const files = {
  'config/secret': 'of the client\n',
  'config/keys.json': JSON.stringify({ keys: [jwk] }),
  'config/rsa.json': JSON.stringify({ keys: [{ kty: 'RSA' }] }),
  'config/no.json': 'x',
}

function configOf(changes: Options = {}, routeChanges: Options = {}): Options {
  return { ...minimalConfig, issuers: [{ ...corp, ...changes }], routes: [{ ...route, ...routeChanges }] }
}

t.test('an issuer needs a name, its URL and an audience', (t) => {
  t.strictSame(load(t, configOf()).issuers, [
    {
      name: corp.name,
      issuer: corp.issuer,
      audiences: ['orders'],
      require: [],
      algorithms: ['RS256', 'ES256'],
      tokenType: 'any',
      keys: { kind: 'discovery' },
      introspection: undefined,
      subject: ['sub'],
      role: { claim: undefined, map: [], default: 'User' },
      scopes: undefined,
      email: undefined,
      registration: undefined,
      plan: undefined,
    },
  ])
  t.strictSame(load(t, configOf()).routes[0]?.issuers, ['corp'])
  t.end()
})

t.test('a client may return to the web, to this machine and to an application', (t) => {
  const redirectUris = [
    'https://app.example.com/back?tab=1',
    'http://localhost/callback',
    'http://127.0.0.1:8080/',
    'http://[::1]/callback',
    'com.example.app:/callback',
    'cursor://anysphere.cursor-mcp/oauth/callback',
  ]
  const registration = { clientId: 'mcp', redirectUris }
  t.strictSame(load(t, configOf({ registration })).issuers[0]?.registration, registration)
  t.end()
})

t.test('an issuer may have several audiences, or none where a claim is required', (t) => {
  const issuerOf = (changes: Options) => load(t, configOf(changes)).issuers[0]
  t.match(issuerOf({ audience: ['orders', 'shop'] }), { audiences: ['orders', 'shop'] })
  const require = { azp: ['https://app.example.com'], org: ['*'] }
  t.match(issuerOf({ audience: undefined, require }), { audiences: [], require: Object.entries(require) })
  t.end()
})

t.test('an issuer that is asked about its tokens has keys only where they are named', (t) => {
  const issuerOf = (changes: Options) => load(t, configOf(changes), { files }).issuers[0]
  const asked = { ...introspection, clientSecret: 'of the client' }
  t.match(issuerOf({ introspection }), { keys: { kind: 'none' }, introspection: asked })
  const both = issuerOf({ introspection, jwks: { file: 'keys.json' }, tokenType: 'at+jwt' })
  t.match(both, { keys: { kind: 'file' }, introspection: asked })
  const inNetwork = { ...introspection, url: 'http://keycloak:8080/introspect?realm=x' }
  t.match(issuerOf({ introspection: inNetwork }), { introspection: { url: inNetwork.url } })
  t.end()
})

t.test('a route names one issuer with introspection at most', (t) => {
  const issuers = [
    { ...corp, introspection },
    { ...corp, name: 'keys', issuer: 'https://keys.example.com' },
    { ...corp, name: 'other', issuer: 'https://other.example.com', introspection },
  ]
  const messages = (names: readonly string[]) =>
    problemMessages(t, { ...minimalConfig, issuers, routes: [{ ...route, issuers: names }] }, { files })
  t.strictSame(messages(['corp', 'keys']), [])
  t.strictSame(messages(['keys', 'other']), [])
  t.strictSame(messages(['corp', 'keys', 'other']), [
    'routes[0].issuers[2]: a route can name only one issuer with introspection, and names "corp" too: a token that is not a JWT does not say which issuer it is from',
  ])
  t.end()
})

t.test('claims may be members of others, and keys come from a URL or file', (t) => {
  const role = {
    claim: ['realm_access', 'roles'],
    map: { ops: 'Admin', 'https://x/y z': 'Staff' },
    default: 'Guest',
  }
  const written = {
    tokenType: 'at+jwt',
    algorithms: ['EdDSA'],
    subject: 'oid',
    role,
    scopes: 'scp',
    email: ['a', 'b'],
  }
  t.match(load(t, configOf({ ...written, jwks: { url: 'https://id.example.com/jwks' } })).issuers[0], {
    algorithms: ['EdDSA'],
    tokenType: 'at+jwt',
    keys: { kind: 'url', url: 'https://id.example.com/jwks' },
    subject: ['oid'],
    role: {
      claim: ['realm_access', 'roles'],
      map: [
        ['ops', 'Admin'],
        ['https://x/y z', 'Staff'],
      ],
      default: 'Guest',
    },
    scopes: ['scp'],
    email: ['a', 'b'],
  })
  const ofFile = load(t, configOf({ jwks: { file: 'keys.json' } }), { files }).issuers[0]
  t.strictSame(ofFile?.keys, { kind: 'file', text: files['config/keys.json'] })
  t.end()
})

for (const [what, changes, problem] of [
  ['no audience', { audience: undefined }, 'issuers[0].audience: is missing'],
  ['an empty list of audiences', { audience: [] }, 'issuers[0].audience: must'],
  [
    'no audience and claims with any value',
    { audience: undefined, require: { azp: ['x', '*'], org: ['**'] } },
    'issuers[0].audience: is missing; it may be left out only where require names a claim',
  ],
  ['a required claim without values', { require: { azp: [] } }, 'issuers[0].require.azp: must not be empty'],
  ['a required claim that is no list', { require: { azp: 'x' } }, 'issuers[0].require.azp: must be'],
  ['a required value that is no text', { require: { ok: [true] } }, 'issuers[0].require.ok[0]: must be'],
  ['plain HTTP', { issuer: 'http://id.example.com' }, 'issuers[0].issuer: must be an https:// URL'],
  ['a query', { issuer: 'https://id.example.com?x' }, 'issuers[0].issuer: must be an https:// URL'],
  ['no URL', { issuer: 'corp' }, 'issuers[0].issuer: must be an https:// URL'],
  [
    'our own URL',
    { issuer: 'http://localhost:8080' },
    'issuers[0].issuer: is the issuer of the tokens of this gateway',
  ],
  ['HS256', { algorithms: ['HS256'] }, 'issuers[0].algorithms[0]: must be one of RS256'],
  ['none', { algorithms: ['none'] }, 'issuers[0].algorithms[0]: must be one of RS256'],
  ['no algorithm', { algorithms: [] }, 'issuers[0].algorithms: must not be empty'],
  ['a colon in its name', { name: 'a:b' }, 'issuers[0].name: has an invalid format'],
  [
    'keys over plain HTTP',
    { jwks: { url: 'http://id.example.com/jwks' } },
    'issuers[0].jwks.url: must be an https:// URL',
  ],
  [
    'two places of keys',
    { jwks: { url: 'https://x.example.com', file: 'keys.json' } },
    'issuers[0].jwks: set exactly one',
  ],
  ['no place of keys', { jwks: {} }, 'issuers[0].jwks: set exactly one'],
  ['a file that is missing', { jwks: { file: 'x.json' } }, 'issuers[0].jwks.file: cannot read'],
  [
    'a file without keys',
    { jwks: { file: 'no.json' } },
    'issuers[0].jwks.file: it is not a JSON Web Key Set',
  ],
  [
    'a file without a usable key',
    { jwks: { file: 'rsa.json' } },
    'issuers[0].jwks.file: it has no key for RS256, ES256',
  ],
  ['a misspelt option', { audiance: 'x' }, 'issuers[0].audiance: unknown option, did you mean "audience"?'],
  [
    'an introspection endpoint of another scheme',
    { introspection: { ...introspection, url: 'ftp://id.example.com' } },
    'issuers[0].introspection.url: must be an https:// URL',
  ],
  [
    'a password in that URL',
    { introspection: { ...introspection, url: 'https://a:b@id.example.com' } },
    'issuers[0].introspection.url: must be an https:// URL without user',
  ],
  ['no client', { introspection: { url: introspection.url } }, 'issuers[0].introspection'],
  [
    'its secret inline',
    { introspection: { ...introspection, clientSecret: 'x' } },
    'issuers[0].introspection.clientSecret: is never written inline',
  ],
  [
    'a secret that is not set',
    { introspection: { ...introspection, clientSecret: { env: 'NO_SUCH' } } },
    'issuers[0].introspection.clientSecret: the environment variable NO_SUCH is not set',
  ],
  [
    'a type of tokens that nobody reads',
    { introspection, tokenType: 'at+jwt' },
    'issuers[0].tokenType: needs jwks',
  ],
  [
    'a redirect URI in a network',
    { registration: { clientId: 'mcp', redirectUris: ['http://localhost/', 'http://10.0.0.1/'] } },
    'issuers[0].registration.redirectUris[1]: must be an https:// URL, http:// on this machine',
  ],
  [
    'a redirect URI that is a script',
    { registration: { clientId: 'mcp', redirectUris: ['javascript:alert(1)'] } },
    'issuers[0].registration.redirectUris[0]: must be an https:// URL',
  ],
  [
    'no redirect URI',
    { registration: { clientId: 'mcp', redirectUris: [] } },
    'issuers[0].registration.redirectUris: must not be empty',
  ],
  [
    'a registration without a client',
    { registration: { redirectUris: ['http://localhost/'] } },
    'issuers[0].registration',
  ],
  ['an empty path of a claim', { subject: [] }, 'issuers[0].subject: must be'],
] as const) {
  t.test(`an issuer with ${what} is reported`, (t) => {
    const messages = problemMessages(t, configOf(changes), { files })
    t.ok(
      messages.some((message) => message.startsWith(problem)),
      messages.join('\n'),
    )
    t.end()
  })
}

for (const [what, changes, problem] of [
  [
    'an unknown issuer',
    { issuers: ['crop'] },
    'routes[0].issuers[0]: unknown issuer "crop", did you mean "corp"?',
  ],
  [
    'issuers but no authentication',
    { auth: 'none' },
    'routes[0].issuers: cannot be combined with auth: none',
  ],
  [
    'issuers but only keys',
    { auth: 'secretKey' },
    'routes[0].issuers: cannot be combined with auth: secretKey',
  ],
  [
    'scopes that no token of its issuer has',
    { scopes: ['a'] },
    'routes[0].issuers[0]: the route names scopes, but tokens of "corp" have none',
  ],
  ['an issuer twice', { issuers: ['corp', 'corp'] }, 'routes[0].issuers: contains duplicates'],
] as const) {
  t.test(`a route with ${what} is reported`, (t) => {
    const messages = problemMessages(t, configOf({}, changes))
    t.ok(
      messages.some((message) => message.startsWith(problem)),
      messages.join('\n'),
    )
    t.end()
  })
}

t.test('names and URLs of issuers are unique', (t) => {
  const twice = (changes: Options) =>
    problemMessages(t, { ...configOf(), issuers: [corp, { ...corp, ...changes }] }).join('\n')
  t.match(twice({ issuer: 'https://other.example.com' }), 'issuers[1].name: duplicate name "corp"')
  t.match(twice({ name: 'other' }), 'issuers[1].issuer: duplicate issuer "https://id.example.com"')
  t.end()
})
