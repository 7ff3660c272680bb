import fc from 'fast-check'
import { headerOf, isCanonical, payloadOf, signingKeyIdOf } from '#identity/tokens/jwt.ts'
import { createRefreshTokens, createSessionId } from '#identity/tokens/refresh-tokens.ts'
import { hideSecrets } from '#platform/secrets/hide-secrets.ts'
import { createAccountId, createKey, parseKey } from '#platform/secrets/keys.ts'
import {
  createLinkToken,
  createPortalToken,
  parseLinkToken,
  parsePortalToken,
} from '#platform/secrets/link-tokens.ts'
import { type Property, property } from '../property.ts'

interface Kind {
  readonly name: string
  create(): string
  /** The account or session in it; undefined where it is none. */
  parse(text: string): string | undefined
  /** Whether its own text shows that it was made up or mistyped; otherwise only the store can say. */
  readonly isChecked: boolean
}

const refreshTokens = createRefreshTokens(Buffer.alloc(32, 1))

const kinds: readonly Kind[] = [
  {
    name: 'a secret key',
    create: () => createKey('secretKey', createAccountId()),
    parse: (text) => parseKey('secretKey', text)?.accountId,
    isChecked: true,
  },
  {
    name: 'an API key',
    create: () => createKey('apiKey', createAccountId()),
    parse: (text) => parseKey('apiKey', text)?.accountId,
    isChecked: true,
  },
  {
    name: 'a refresh token',
    create: () => refreshTokens.create(createSessionId(), 7),
    parse: (text) => refreshTokens.parse(text)?.sessionId,
    isChecked: true,
  },
  {
    name: 'a portal token',
    create: () => createPortalToken(createAccountId()).token,
    parse: (text) => parsePortalToken(text)?.accountId,
    isChecked: false,
  },
  {
    name: 'a link token',
    create: () => createLinkToken('setup', createAccountId()).token,
    parse: (text) => parseLinkToken('setup', text)?.accountId,
    isChecked: false,
  },
]

const character = fc.oneof(fc.constantFrom(...'_-.~ 09azAZ=\0\n%'), fc.string({ minLength: 1, maxLength: 1 }))

const spoilt = fc.record({
  at: fc.nat(200),
  kind: fc.constantFrom('replace', 'insert', 'remove', 'cut'),
  character,
})

type Spoilt = typeof spoilt extends fc.Arbitrary<infer Value> ? Value : never

function spoil(text: string, { at, kind, character }: Spoilt): string {
  const index = at % text.length
  switch (kind) {
    case 'replace':
      return text.slice(0, index) + character + text.slice(index + 1)
    case 'insert':
      return text.slice(0, index) + character + text.slice(index)
    case 'remove':
      return text.slice(0, index) + text.slice(index + 1)
    case 'cut':
      return text.slice(0, index)
    default:
      return kind satisfies never
  }
}

function propertiesOf({ name, create, parse, isChecked }: Kind): readonly Property[] {
  return [
    property(
      `${name} that was changed in one place is ${isChecked ? 'none' : 'never longer or shorter'}`,
      spoilt,
      (how) => {
        const whole = create()
        const text = spoil(whole, how)
        if (parse(whole) === undefined) throw new Error(`${whole} is none`)
        if (text === whole) return
        if (parse(text) !== undefined && (isChecked || text.length !== whole.length))
          throw new Error(`${text} is one`)
      },
    ),
    property(
      `no made-up text is ${name}`,
      fc.string({ unit: character, maxLength: 120 }),
      (text) => parse(text) === undefined,
    ),
    property(
      `${name} is hidden in whatever stands around it`,
      fc.tuple(fc.string({ unit: fc.constantFrom(...'/?=&: %'), maxLength: 6 }), fc.boolean()),
      ([around, isUpper]) => {
        const secret = isUpper ? create().toUpperCase() : create()
        return !hideSecrets(`${around}/${secret}/${around}`).includes(secret.slice(30))
      },
    ),
  ]
}

const jwtCharacter = fc.constantFrom(...'eyJhbGciOiJ9.._-=AZ09{"')

export const credentialProperties: readonly Property[] = [
  ...kinds.flatMap(propertiesOf),
  property(
    'whatever stands in place of a JWT is read without a failure',
    fc.oneof(fc.string({ unit: jwtCharacter }), fc.json(), fc.string()),
    (text) => {
      const tokens = [text, `${Buffer.from(text).toString('base64url')}.${text}.x`, `.${text}.`]
      for (const token of tokens) {
        isCanonical(token)
        signingKeyIdOf(token)
        headerOf(token)
        payloadOf(token)
      }
    },
  ),
]
