import { generateKeyPairSync, sign } from 'node:crypto'
import fc from 'fast-check'
import { createVerifiedTokens } from '#identity/cache/bounded-caches.ts'
import { type ForeignVerdict, foreignClaimsBytes } from '#identity/issuers/foreign-claims.ts'
import { createForeignTokens } from '#identity/issuers/foreign-tokens.ts'
import type { TokenType } from '#identity/issuers/issuer.ts'
import { fileIssuer, openFileIssuers } from '../../identity/issuers/file-issuers.ts'
import { type Property, property } from '../property.ts'

/** Tokens that the issuer has signed, whatever it may have put into them, and a second opinion about each. */

const issuer = 'https://id.example.com/realms/corp'
const ownIssuer = 'https://gateway.example.com'
const nowS = 1_800_000_000
const toleranceS = 5
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256' }

async function openTokens(tokenType: TokenType) {
  const verified = createVerifiedTokens(100, foreignClaimsBytes)
  const options = fileIssuer(issuer, [jwk], {
    algorithms: ['ES256'],
    tokenType,
    role: { claim: ['groups'], map: [['ops', 'Admin']], default: 'User' },
    email: ['email'],
  })
  return createForeignTokens({
    issuers: await openFileIssuers([options], verified),
    ownIssuer,
    verified,
    clockToleranceMs: toleranceS * 1_000,
    clock: () => nowS * 1_000,
  })
}

const gateways = { any: await openTokens('any'), 'at+jwt': await openTokens('at+jwt') } as const

/** JSON text of a value. */
const repeated = ['{"a":1,"a":2}', '[{"b":[{"c":1,"\\u0063":1}]}]']
const texts = [
  ...[
    '',
    'x',
    issuer,
    `${issuer}/`,
    'orders',
    'ops',
    'access',
    'Bearer',
    'ID',
    'read write',
    'a\u0000b',
    '\ud800',
  ],
  ...['x'.repeat(255), 'x'.repeat(256), 'x'.repeat(5_000)],
].map((text) => JSON.stringify(text))
const values = fc.oneof(
  fc.constantFrom(...texts),
  fc.constantFrom(
    ...['null', 'true', '0', '-1', '-0', '1e400', '1e-400', '7.5', `${nowS}`, `${nowS + 60}`, `${nowS - 60}`],
    ...['[]', '{}', '["orders"]', '[["orders"]]', '["ops",7]', '["read"]', '{"ops":true}', ...repeated],
    ...[`${'['.repeat(500)}${']'.repeat(500)}`, `[${'"ops",'.repeat(1_000)}"x"]`],
  ),
  fc.json(),
)
const names = [
  ...['iss', 'aud', 'sub', 'exp', 'iat', 'nbf', 'scope', 'groups', 'email', 'typ', 'token_use'],
  ...['nonce', 'auth_time', 'at_hash', 'c_hash', 'events', 'cnf', 'client_id', 'cid', 'scp', 'azp'],
  ...['__proto__', 'constructor', 'hasOwnProperty', 'email_verified', 'other'],
]

type Member = readonly [name: string, value: string]

const right: readonly Member[] = [
  ['iss', JSON.stringify(issuer)],
  ['aud', '"orders"'],
  ['sub', '"ada"'],
  ['exp', `${nowS + 60}`],
]

const change = fc.record({
  name: fc.constantFrom(...names),
  value: values,
  how: fc.constantFrom('set', 'set', 'set', 'add', 'remove'),
  isEscaped: fc.boolean(),
})

type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

/** The name as it is written: with its first letter as an escape. */
function spell(name: string, isEscaped: boolean): string {
  const escaped = `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`
  return isEscaped ? escaped : name
}

function changed(members: readonly Member[], { name, value, how, isEscaped }: Change): readonly Member[] {
  const others = how === 'add' ? members : members.filter(([other]) => plain(other) !== name)
  return how === 'remove' ? others : [...others, [spell(name, isEscaped), value]]
}

const plain = (name: string): string => String(JSON.parse(`"${name}"`))

const tokens = fc.record({
  changes: fc.array(change, { maxLength: 4 }),
  typ: fc.constantFrom('at+jwt', 'AT+JWT', 'application/at+jwt', 'JWT', undefined, '', 'ID', 'logout+jwt'),
})

function signed(members: readonly Member[], typ: string | undefined): string {
  const payload = `{${members.map(([name, value]) => `"${name}":${value}`).join(',')}}`
  const parts = [JSON.stringify({ alg: 'ES256', kid: 'one', typ }), payload]
  const text = parts.map((part) => Buffer.from(part).toString('base64url')).join('.')
  const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

const isTime = (value: unknown) => typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY
const says = (value: unknown) => (typeof value === 'string' || Array.isArray(value)) && value.length > 0

/** The rules of docs/issuers.md, read for themselves: whether a token is to be accepted now. */
function isRight(members: readonly Member[], typ: string | undefined, tokenType: TokenType): boolean {
  const claims = new Map(members.map(([name, value]) => [plain(name), JSON.parse(value) as unknown]))
  const [aud, sub, exp, scope] = ['aud', 'sub', 'exp', 'scope'].map((name) => claims.get(name))
  const scopes = typeof scope === 'string' ? scope.split(' ').filter(Boolean) : (scope ?? [])
  const starts = ['iat', 'nbf'].map((name) => (claims.has(name) ? claims.get(name) : 0))
  return [
    claims.size === members.length && !members.some(([, value]) => repeated.includes(value)),
    typ === undefined || typ === 'JWT' ? tokenType === 'any' : /^(?:application\/)?at\+jwt$/i.test(typ),
    claims.get('iss') === issuer,
    [aud].flat().includes('orders'),
    typeof sub === 'string' &&
      sub.length <= 255 &&
      /^[^\p{Cc}\u2028\u2029]+$/u.test(sub) &&
      sub.isWellFormed(),
    isTime(exp) && Number(exp) + toleranceS > nowS,
    starts.every((start) => isTime(start) && Number(start) <= nowS + toleranceS),
    ['nonce', 'at_hash', 'c_hash', 'events', 'cnf'].every((name) => !claims.has(name)),
    !claims.has('auth_time') || ['client_id', 'scope', 'cid', 'scp'].some((name) => says(claims.get(name))),
    !claims.has('typ') || claims.get('typ') === 'Bearer',
    !claims.has('token_use') || claims.get('token_use') === 'access',
    Array.isArray(scopes) &&
      scopes.length <= 100 &&
      scopes.every((one) => typeof one === 'string' && /^[!#-[\]-~]{1,128}$/.test(one)),
  ].every(Boolean)
}

function verify(token: string, tokenType: TokenType, accepted = 'corp'): ForeignVerdict | undefined {
  const verdict = gateways[tokenType].verify(token, new Set([accepted]))
  if (verdict instanceof Promise) throw new Error('the key is known')
  return verdict
}

function membersOf(changes: readonly Change[]): readonly Member[] {
  return changes.reduce(changed, right)
}

export const claimProperties: readonly Property[] = [
  property(
    'of an issuer only what is an access token for this audience and this time is accepted',
    tokens,
    ({ changes, typ }) => {
      const members = membersOf(changes)
      const token = signed(members, typ)
      for (const tokenType of ['any', 'at+jwt'] as const)
        for (const turn of ['at first', 'again']) {
          const verdict = verify(token, tokenType)
          const isAccepted = verdict?.kind === 'valid'
          if (isAccepted !== isRight(members, typ, tokenType))
            throw new Error(`${tokenType}, ${turn}: ${JSON.stringify([verdict, typ, members])}`)
        }
    },
  ),
  property(
    'a token gives its user no role but by the map, and an ID of that issuer',
    fc.array(change, { maxLength: 3 }),
    (changes) => {
      const members = membersOf(changes)
      const verdict = verify(signed(members, 'at+jwt'), 'any')
      if (verdict?.kind !== 'valid') return
      const { role, principalId, scopes } = verdict.claims
      const groups: unknown = JSON.parse(members.find(([name]) => plain(name) === 'groups')?.[1] ?? 'null')
      const expected = [groups].flat().includes('ops') ? 'Admin' : 'User'
      if (role !== expected || !/^corp:[!-~]+$/.test(principalId) || scopes.length > 100)
        throw new Error(JSON.stringify([role, principalId, scopes]))
    },
  ),
  property(
    'an issuer in any other spelling is none, and a reason names only one that the route accepts',
    fc.record({
      iss: fc.oneof(
        fc.constantFrom(
          ...[`${issuer}/`, `${issuer}//`, issuer.toUpperCase(), `${issuer}?`, `${issuer}#`, `${issuer}/.`],
          ...[
            issuer.replace('https', 'http'),
            issuer.replace('.com', '.com:443'),
            `${issuer}%2F`,
            ` ${issuer}`,
          ],
          ...[issuer.replace('e', '\u0435'), `${issuer}\u0000`, 'corp', '', '/', '//', ownIssuer],
        ),
        fc.webUrl(),
        fc.string(),
      ),
      accepted: fc.constantFrom('corp', 'other'),
    }),
    ({ iss, accepted }) => {
      const members = changed(right, {
        name: 'iss',
        value: JSON.stringify(iss),
        how: 'set',
        isEscaped: false,
      })
      const verdict = verify(signed(members, 'at+jwt'), 'any', accepted)
      if (verdict === undefined || iss === issuer) return
      const isNamed = verdict.kind === 'invalid' && verdict.reason.startsWith('issuer corp: iss ')
      if (!isNamed || accepted !== 'corp') throw new Error(JSON.stringify(verdict))
    },
  ),
]
