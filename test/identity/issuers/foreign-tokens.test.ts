import { constants, createHmac, createPublicKey, KeyObject, randomBytes, sign } from 'node:crypto'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import t from 'tap'
import { createVerifiedTokens } from '#identity/cache/bounded-caches.ts'
import { type ForeignVerdict, foreignClaimsBytes } from '#identity/issuers/foreign-claims.ts'
import { createForeignTokens } from '#identity/issuers/foreign-tokens.ts'
import { type IssuerAlgorithm, type IssuerOptions, issuerAlgorithms } from '#identity/issuers/issuer.ts'
import { encode } from '../tokens/forged-tokens.ts'
import { fileIssuer, openFileIssuers } from './file-issuers.ts'
import { type IssuerKey, newIssuerKey, rightClaims, signToken } from './issuer-server.ts'

const issuer = 'https://id.example.com'
const ownIssuer = 'https://gateway.example.com'
const clockToleranceMs = 5_000
const nowS = Math.floor(Date.now() / 1_000)

type Jwks = readonly Readonly<Record<string, unknown>>[]

/** Ours, and jose as an independent oracle, for the same keys and rules. */
async function openBench(jwks: Jwks, changes: Partial<IssuerOptions> = {}) {
  const options = fileIssuer(issuer, jwks, changes)
  const verified = createVerifiedTokens(1_000, foreignClaimsBytes)
  const time = { nowMs: nowS * 1_000 }
  const issuers = await openFileIssuers([options], verified)
  const clock = () => time.nowMs
  const tokens = createForeignTokens({ issuers, ownIssuer, verified, clockToleranceMs, clock })
  const accepted = new Set(['corp'])
  // The cast is sound: the keys are those that jose has made.
  const keySet = createLocalJWKSet({ keys: jwks } as unknown as JSONWebKeySet)
  const kindOf = async (token: string): Promise<ForeignVerdict['kind'] | 'not-foreign'> =>
    (await tokens.verify(token, accepted))?.kind ?? 'not-foreign'
  const isValidToJose = (token: string) =>
    jwtVerify(token, keySet, {
      issuer,
      audience: 'orders',
      algorithms: [...options.algorithms],
      requiredClaims: ['exp', 'sub'],
      clockTolerance: clockToleranceMs / 1_000,
      currentDate: new Date(time.nowMs),
    }).then(
      () => true,
      () => false,
    )
  return { tokens, verified, time, accepted, kindOf, isValidToJose }
}

const keys = new Map<IssuerAlgorithm, IssuerKey>()
for (const alg of issuerAlgorithms) keys.set(alg, await newIssuerKey(`key-${alg}`, alg))
const keyOf = (alg: IssuerAlgorithm) => {
  const key = keys.get(alg)
  if (!key) throw new Error(`no key for ${alg}`)
  return key
}
const allKeys = [...keys.values()].map(({ jwk }) => jwk)
const es = keyOf('ES256')
const claims = rightClaims(issuer, { iat: nowS, exp: nowS + 300 })
const bench = await openBench(allKeys)

for (const alg of issuerAlgorithms) {
  t.test(`a token signed with ${alg} is accepted, and none with a defect in its signature`, async (t) => {
    const token = await signToken(keyOf(alg), claims)
    t.equal(await bench.kindOf(token), 'valid')
    t.equal(await bench.isValidToJose(token), true)
    const [header = '', payload = '', signature = ''] = token.split('.')
    const bytes = Buffer.from(signature, 'base64url')
    const half = bytes.length / 2
    const flipped = (at: number) => bytes.map((byte, index) => (index === at ? byte ^ 1 : byte))
    const defects: readonly Uint8Array[] = [
      Buffer.alloc(0),
      Buffer.alloc(bytes.length),
      Buffer.alloc(bytes.length, 0xff),
      Buffer.alloc(1),
      flipped(0),
      flipped(bytes.length - 1),
      flipped(Math.floor(half)),
      bytes.subarray(0, -1),
      // A number without its leading zero is the same number, and OpenSSL takes it (RFC 8017 8.1.2 would not).
      ...(bytes[0] === 0 ? [] : [bytes.subarray(1)]),
      Buffer.concat([bytes, Buffer.alloc(1)]),
      Buffer.concat([Buffer.alloc(1), bytes]),
      Buffer.concat([bytes, bytes]),
      // ECDSA: r or s of 0, r and s exchanged, s = 1.
      Buffer.concat([Buffer.alloc(Math.floor(half)), bytes.subarray(Math.floor(half))]),
      Buffer.concat([bytes.subarray(0, Math.floor(half)), Buffer.alloc(Math.ceil(half))]),
      Buffer.concat([bytes.subarray(Math.floor(half)), bytes.subarray(0, Math.floor(half))]),
      randomBytes(bytes.length),
    ]
    for (const [index, defect] of defects.entries()) {
      const forged = `${header}.${payload}.${Buffer.from(defect).toString('base64url')}`
      t.equal(await bench.kindOf(forged), 'invalid', `defect ${index}`)
      t.equal(await bench.isValidToJose(forged), false, `defect ${index}, to jose`)
    }
    // The same signature in another spelling would be another entry of every cache.
    for (const spelling of [`${signature}=`, `${signature}A`, `${signature}\n`, ` ${signature}`])
      t.equal(await bench.kindOf(`${header}.${payload}.${spelling}`), 'invalid', spelling)
    // Of another token, and of another key of the same kind.
    const other = await signToken(keyOf(alg), { ...claims, sub: 'eve' })
    t.equal(await bench.kindOf(`${other.slice(0, other.lastIndexOf('.'))}.${signature}`), 'invalid')
    const stranger = await newIssuerKey(`key-${alg}`, alg)
    t.equal(await bench.kindOf(await signToken(stranger, claims)), 'invalid')
    for (const otherAlg of issuerAlgorithms.filter((one) => one !== alg)) {
      const forged = await signToken(keyOf(alg), claims, { kid: `key-${otherAlg}` })
      t.equal(await bench.kindOf(forged), 'invalid', `kid of the key for ${otherAlg}`)
      const renamed = `${encode({ alg: otherAlg, kid: `key-${alg}`, typ: 'at+jwt' })}.${payload}.${signature}`
      t.not(await bench.kindOf(renamed), 'valid', `alg ${otherAlg}`)
    }
  })

  t.test(`where ${alg} is not among the algorithms, a right token of it is refused`, async (t) => {
    const algorithms = issuerAlgorithms.filter((one) => one !== alg)
    const { kindOf } = await openBench(allKeys, { algorithms })
    t.equal(await kindOf(await signToken(keyOf(alg), claims)), 'invalid')
  })
}

/** What is wrong with a token that is signed by the right key. */
const wrongTokens: readonly (readonly [string, object, object?])[] = [
  ['another issuer with a slash at its end', { iss: `${issuer}/` }],
  ['the issuer in capitals', { iss: issuer.toUpperCase() }],
  ['a list as issuer', { iss: [issuer] }],
  ['no issuer', { iss: undefined }],
  ['no audience', { aud: undefined }],
  ['another audience', { aud: 'others' }],
  ['an audience that only begins like ours', { aud: 'orders2' }],
  ['a list without our audience', { aud: ['others', 'order'] }],
  ['an empty list as audience', { aud: [] }],
  ['a nested list as audience', { aud: [['orders']] }],
  ['an object as audience', { aud: { orders: true } }],
  ['no exp', { exp: undefined }],
  ['exp as text', { exp: String(nowS + 300) }],
  ['exp of null', { exp: null }],
  ['iat in the future', { iat: nowS + 6 }],
  ['iat as text', { iat: String(nowS) }],
  ['iat below 0', { iat: -1 }],
  ['nbf in the future', { nbf: nowS + 6 }],
  ['nbf far in the future', { nbf: 1e20 }],
  ['nbf as text', { nbf: 'now' }],
  ['no subject', { sub: undefined }],
  ['an empty subject', { sub: '' }],
  ['a number as subject', { sub: 7 }],
  ['a list as subject', { sub: ['ada'] }],
  ['a logout token', { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }],
  ['an ID token with at_hash', { at_hash: 'x' }],
  ['an ID token with c_hash', { c_hash: 'x' }],
  ['an ID token with nonce', { nonce: 'x' }, { typ: 'JWT' }],
  ['an ID token with nonce, which has a scope too', { nonce: 'x', scope: 'openid' }, { typ: undefined }],
  ['nonce of null', { nonce: null }],
  ['an ID token with auth_time', { auth_time: nowS, azp: 'web', sid: 'x' }, { typ: 'JWT' }],
  ['auth_time with an empty scope', { auth_time: nowS, scope: '' }],
  ['auth_time with a client_id that is no text', { auth_time: nowS, client_id: {} }],
  ['auth_time of null', { auth_time: null }],
  ['an ID token of Cognito', { token_use: 'id' }],
  ['an ID token of Keycloak', { typ: 'ID' }],
  ['a refresh token of Keycloak', { typ: 'Refresh' }],
  ['typ DPoP without a key', { typ: 'DPoP' }],
  ['a token that is bound to a key', { cnf: { jkt: 'x' } }],
  ['typ of a logout token', {}, { typ: 'logout+jwt' }],
  ['typ of an ID token', {}, { typ: 'id_token+jwt' }],
  ['typ of a DPoP proof', {}, { typ: 'dpop+jwt' }],
  ['typ of our assertions', {}, { typ: 'gatehouse-assertion+jwt' }],
  ['typ of a secevent', {}, { typ: 'secevent+jwt' }],
  ['an empty typ', {}, { typ: '' }],
  ['typ as a list', {}, { typ: ['JWT'] }],
  ['a kid that is not known', {}, { kid: 'unknown' }],
  ['kid as a path', {}, { kid: '../../key-ES256' }],
  ['a number as kid', {}, { kid: 7 }],
  ['no kid where several keys fit', {}, { kid: undefined }],
]

t.test('a token of the right key is refused for each thing that is wrong with it', async (t) => {
  // Two that fit a token without kid.
  const second = await newIssuerKey('second', 'ES256')
  const { kindOf } = await openBench([...allKeys, second.jwk])
  t.equal(await kindOf(await signToken(es, claims)), 'valid')
  for (const [what, payload, header] of wrongTokens) {
    const token = await signToken(es, { ...claims, ...payload }, { ...header })
    t.match(await kindOf(token), /^(?:invalid|not-foreign)$/, what)
    t.match(await kindOf(token), /^(?:invalid|not-foreign)$/, `${what}, again`)
  }
})

t.test('what may be different in a right token', async (t) => {
  for (const [what, payload, header] of [
    ['no typ', {}, { typ: undefined }],
    ['typ JWT', {}, { typ: 'JWT' }],
    ['typ in other case, as a media type', {}, { typ: 'application/AT+JWT' }],
    ['a list with our audience', { aud: ['others', 'orders'] }, {}],
    ['no iat', { iat: undefined }, {}],
    ['iat within the tolerance', { iat: nowS + 5 }, {}],
    ['nbf within the tolerance', { nbf: nowS + 5 }, {}],
    ['expired within the tolerance', { exp: nowS - 4 }, {}],
    ['an access token of Keycloak', { typ: 'Bearer' }, {}],
    ['one that is bound to a key', { typ: 'DPoP', cnf: { jkt: 'x'.repeat(43) } }, {}],
    ['an access token of Cognito', { token_use: 'access' }, {}],
    ['a nonce in the header', {}, { nonce: 'x', x5t: 'x' }],
    ['auth_time with client_id', { auth_time: nowS, client_id: 'web' }, {}],
    ['auth_time with a scope', { auth_time: nowS, scope: 'read' }, { typ: 'JWT' }],
    ['an access token of Okta', { auth_time: nowS, cid: 'web', scp: ['read'] }, { typ: undefined }],
  ] as const) {
    const token = await signToken(es, { ...claims, ...(payload as object) }, { ...header })
    t.equal(await bench.kindOf(token), 'valid', what)
    t.equal(await bench.isValidToJose(token), true, `${what}, to jose`)
  }
})

t.test('where tokenType is at+jwt, only a token that says so is accepted', async (t) => {
  const { kindOf, tokens, accepted } = await openBench(allKeys, { tokenType: 'at+jwt' })
  for (const typ of ['at+jwt', 'application/at+jwt', 'AT+JWT'])
    t.equal(await kindOf(await signToken(es, claims, { typ })), 'valid', typ)
  for (const typ of [
    undefined,
    null,
    '',
    'JWT',
    'jwt',
    'application/jwt',
    'at+jwt ',
    'x/at+jwt',
    ['at+jwt'],
  ]) {
    const token = await signToken(es, claims, { typ })
    t.match(tokens.verify(token, accepted), { kind: 'invalid', reason: /wrong typ \(tokenType: at\+jwt\)/ })
    t.equal(await kindOf(token), 'invalid', JSON.stringify(typ))
  }
})

t.test(
  'an issuer in another spelling is refused, and the reason names the issuer that is meant',
  async (t) => {
    const { tokens, accepted } = await openBench(allKeys, { issuer: `${issuer}/realms/corp` })
    const verify = async (iss: string) => tokens.verify(await signToken(es, { ...claims, iss }), accepted)
    t.match(await verify(`${issuer}/realms/corp`), { kind: 'valid' })
    for (const [iss, reason] of [
      [`${issuer}/realms/corp/`, 'issuer corp: iss ends with more slashes than in the config'],
      [`${issuer}/realms/corp//`, 'issuer corp: iss ends with more slashes than in the config'],
      [`${issuer}/realms/CORP`, 'issuer corp: iss is another spelling of its URL'],
      ['HTTPS://ID.example.com:443/realms/corp', 'issuer corp: iss is another spelling of its URL'],
    ] as const)
      for (const turn of ['at first', 'again'])
        t.match(await verify(iss), { kind: 'invalid', reason }, `${iss}, ${turn}`)
    for (const iss of ['', '/', issuer, `${issuer}/realms/corp2`, `${issuer}/realms/other/`, 'corp'])
      t.equal(await verify(iss), undefined, `${iss} is none of it`)
    t.equal(
      tokens.verify(await signToken(es, { ...claims, iss: `${issuer}/realms/corp/` }), new Set(['other'])),
      undefined,
      'where the issuer is not accepted, nothing is said of it',
    )
  },
)

t.test('the largest iss that fits into a head costs no more than five milliseconds', async (t) => {
  const { tokens, accepted } = await openBench(allKeys)
  for (const iss of [
    `https://${'a.'.repeat(8_000)}`,
    `https://${'ä'.repeat(8_000)}`,
    `${issuer}${'/'.repeat(12_000)}`,
    '/'.repeat(12_000),
    `https://${'@'.repeat(12_000)}`,
  ]) {
    const token = await signToken(es, { ...claims, iss })
    const took = Array.from({ length: 5 }, () => {
      const startedAt = performance.now()
      t.equal(tokens.verify(token, accepted), undefined)
      return performance.now() - startedAt
    })
    t.ok(Math.min(...took) < 5, `${iss.slice(0, 20)}: ${Math.min(...took).toFixed(2)} ms`)
  }
})

t.test('the issuer of the gateway is not taken for a foreign one that differs by a slash', async (t) => {
  const { kindOf } = await openBench(allKeys, { issuer: `${ownIssuer}/` })
  t.equal(await kindOf(await signToken(es, { ...claims, iss: ownIssuer })), 'not-foreign')
})

t.test('a token ends at exp, with the tolerance, however often it was seen', async (t) => {
  const { kindOf, time, isValidToJose } = await openBench(allKeys)
  const token = await signToken(es, claims)
  for (const [afterMs, kind] of [
    [0, 'valid'],
    [299_999, 'valid'],
    [304_999, 'valid'],
    [305_000, 'expired'],
    [1_000_000, 'expired'],
  ] as const) {
    time.nowMs = nowS * 1_000 + afterMs
    t.equal(await kindOf(token), kind, `${afterMs} ms`)
    t.equal(await isValidToJose(token), kind === 'valid', `${afterMs} ms, to jose`)
  }
  const forged = `${token.slice(0, token.lastIndexOf('.'))}.${'A'.repeat(86)}`
  t.equal(await kindOf(forged), 'invalid', 'a forged one is not called expired')
})

t.test('an unsigned token is refused', async (t) => {
  for (const alg of ['none', 'None', 'NONE', '', null, undefined, 7, ['ES256'], 'ES256 ', 'es256']) {
    for (const signature of ['', 'AA', 'A'.repeat(86)]) {
      const token = `${encode({ alg, kid: 'key-ES256', typ: 'at+jwt' } as never)}.${encode(claims as never)}.${signature}`
      t.equal(await bench.kindOf(token), 'invalid', JSON.stringify(alg))
    }
  }
})

t.test(
  'a token signed with a public key as secret is refused, also where the issuer publishes a secret',
  async (t) => {
    for (const alg of issuerAlgorithms) {
      const { jwk } = keyOf(alg)
      const publicKey = createPublicKey({ format: 'jwk', key: jwk as never })
      const pem = publicKey.export({ format: 'pem', type: 'spki' })
      for (const secret of [
        pem,
        String(pem).trimEnd(),
        publicKey.export({ format: 'der', type: 'spki' }),
        JSON.stringify(jwk),
      ])
        for (const [hs, digest] of [
          ['HS256', 'sha256'],
          ['HS384', 'sha384'],
          ['HS512', 'sha512'],
        ] as const) {
          const signed = `${encode({ alg: hs, kid: `key-${alg}` })}.${encode(claims as never)}`
          const signature = createHmac(digest, secret).update(signed).digest('base64url')
          t.equal(await bench.kindOf(`${signed}.${signature}`), 'invalid')
        }
    }
    const secret = randomBytes(32)
    const oct = { kty: 'oct', kid: 'oct', k: secret.toString('base64url'), alg: 'HS256' }
    const { kindOf } = await openBench([...allKeys, oct])
    const signed = `${encode({ alg: 'HS256', kid: 'oct' })}.${encode(claims as never)}`
    t.equal(
      await kindOf(`${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`),
      'invalid',
    )
  },
)

t.test('a key that comes with the token is never used', async (t) => {
  const eve = await newIssuerKey('key-ES256')
  for (const header of [
    { jwk: eve.jwk },
    { jku: 'https://eve.example.com/jwks' },
    { x5u: 'https://eve.example.com/cert' },
    { x5c: ['AAAA'] },
    { jwk: eve.jwk, kid: undefined },
  ])
    t.equal(await bench.kindOf(await signToken(eve, claims, header)), 'invalid', JSON.stringify(header))
})

/** Signs texts as they are, by the key for ES256. */
async function signText(header: string, payload: string): Promise<string> {
  const signed = `${encode(header)}.${encode(payload)}`
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  const signature = await crypto.subtle.sign(algorithm, es.privateKey, Buffer.from(signed))
  return `${signed}.${Buffer.from(signature).toString('base64url')}`
}

t.test('crit is refused, whatever it names', async (t) => {
  const headerWith = (members: object) => JSON.stringify({ alg: 'ES256', kid: 'key-ES256', ...members })
  const payload = JSON.stringify(claims)
  t.equal(await bench.kindOf(await signText(headerWith({ exp: 1 }), payload)), 'valid')
  for (const crit of [[], ['exp'], ['b64'], 'exp', null])
    t.equal(await bench.kindOf(await signText(headerWith({ crit, exp: 1 }), payload)), 'invalid')
})

t.test(
  'a member that appears twice is refused, in header, payload and below, also by another spelling',
  async (t) => {
    const header = '{"alg":"ES256","kid":"key-ES256"}'
    const payload = JSON.stringify(claims)
    const withMember = (member: string) => `${payload.slice(0, -1)},${member}}`
    t.equal(await bench.kindOf(await signText(header, payload)), 'valid')
    t.equal(
      await bench.kindOf(await signText(header, withMember('"a":{"sub":1},"b":[{"sub":1},{"sub":2}]'))),
      'valid',
    )
    for (const member of [
      '"sub":"eve"',
      '"aud":"orders"',
      '"s\\u0075b":"eve"',
      '"a":{"b":1,"b":2}',
      '"a":[{"b":1,"b":2}]',
    ])
      t.equal(await bench.kindOf(await signText(header, withMember(member))), 'invalid', member)
    t.equal(
      await bench.kindOf(await signText('{"alg":"none","alg":"ES256","kid":"key-ES256"}', payload)),
      'invalid',
    )
  },
)

t.test('what is no JWT is no token of an issuer', async (t) => {
  const [header = '', payload = '', signature = ''] = (await signToken(es, claims)).split('.')
  for (const token of [
    '',
    '.',
    '..',
    '...',
    header,
    `${header}.${payload}`,
    `${header}.${payload}.${signature}.`,
    `${header}.${payload}.${signature}.${signature}.${signature}`,
    `${header}..${signature}`,
    `.${payload}.${signature}`,
    `${header}.${encode('[]')}.${signature}`,
    `${header}.${encode('null')}.${signature}`,
    `${header}.${encode('"x"')}.${signature}`,
    `${header}.${Buffer.from([0xff, 0xfe]).toString('base64url')}.${signature}`,
    `${header}.${encode('{'.repeat(100_000))}.${signature}`,
  ])
    t.equal(await bench.kindOf(token), 'not-foreign', token.slice(0, 60))
})

t.test('two keys with one ID are told apart by their type; of one type they are refused', async (t) => {
  const rsa = await newIssuerKey('same', 'RS256')
  const first = await newIssuerKey('same', 'ES256')
  const second = await newIssuerKey('same', 'ES256')
  const apart = await openBench([rsa.jwk, first.jwk])
  t.equal(await apart.kindOf(await signToken(rsa, claims)), 'valid')
  t.equal(await apart.kindOf(await signToken(first, claims)), 'valid')
  const same = await openBench([first.jwk, second.jwk])
  t.equal(await same.kindOf(await signToken(first, claims)), 'invalid')
  t.equal(await same.isValidToJose(await signToken(first, claims)), false)
})

t.test('without a kid the only key that fits is taken', async (t) => {
  const { kindOf } = await openBench([es.jwk, keyOf('RS256').jwk])
  t.equal(await kindOf(await signToken(es, claims, { kid: undefined })), 'valid')
})

t.test('a key is used only for what it is published for', async (t) => {
  const rsa = keyOf('RS256')
  const { alg: _, use: __, ...bare } = rsa.jwk
  const signed = `${encode({ alg: 'PS256', kid: 'key-RS256' })}.${encode(JSON.stringify(claims))}`
  const pss = {
    key: KeyObject.from(rsa.privateKey),
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: 32,
  }
  const ps = `${signed}.${sign('sha256', Buffer.from(signed), pss).toString('base64url')}`
  t.equal(await (await openBench([bare])).kindOf(ps), 'valid', 'a key for any use')
  t.equal(await (await openBench([rsa.jwk])).kindOf(ps), 'invalid', 'a key for RS256 is none for PS256')
  for (const [what, jwk, kind] of [
    ['nothing said', bare, 'valid'],
    ['for signatures', { ...bare, use: 'sig', key_ops: ['verify'] }, 'valid'],
    ['for encryption', { ...bare, use: 'enc' }, 'undecided'],
    ['not to verify', { ...bare, key_ops: ['encrypt'] }, 'undecided'],
    ['for another algorithm', { ...bare, alg: 'RS512' }, 'undecided'],
    ['a private key', { ...bare, d: 'AQAB' }, 'undecided'],
  ] as const) {
    const { kindOf } = await openBench([jwk], { algorithms: ['RS256'] })
    t.equal(await kindOf(await signToken(rsa, claims)), kind, what)
  }
})

t.test('a token is verified once, and again after its key was withdrawn', async (t) => {
  const { tokens, verified, accepted } = await openBench(allKeys)
  const token = await signToken(es, claims)
  const first = tokens.verify(token, accepted)
  t.match(first, { kind: 'valid', claims: { principalId: 'corp:ada' } })
  const [again] = [tokens.verify(token, accepted)]
  t.not(again, undefined)
  if (first && 'claims' in first && again && 'claims' in again)
    t.equal(again.claims, first.claims, 'the same object')
  t.equal(tokens.verify(token, new Set(['other'])), undefined, 'only where the issuer is accepted')
  verified.clear()
  t.match(tokens.verify(token, accepted), { kind: 'valid' })
})
