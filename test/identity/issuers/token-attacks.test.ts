import { constants, createPublicKey, KeyObject, sign, type webcrypto } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createVerifier } from 'fast-jwt'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import t from 'tap'
import { createVerifiedTokens } from '#identity/cache/bounded-caches.ts'
import { foreignClaimsBytes } from '#identity/issuers/foreign-claims.ts'
import { createForeignTokens } from '#identity/issuers/foreign-tokens.ts'
import { type IssuerAlgorithm, issuerAlgorithms } from '#identity/issuers/issuer.ts'
import { fileIssuer, openFileIssuers } from './file-issuers.ts'
import { type IssuerKey, newIssuerKey, rightClaims, signToken } from './issuer-server.ts'

const issuer = 'https://id.example.com/realms/corp'
const tokensInMemory = 5_000

setFlagsFromString('--expose-gc')
// The cast is sound: with the flag set, a new context has this function.
const gc = runInNewContext('gc') as () => void

const keys = new Map<IssuerAlgorithm, IssuerKey>()
for (const alg of issuerAlgorithms) keys.set(alg, await newIssuerKey(`key-${alg}`, alg))
const jwks = [...keys.values()].map(({ jwk }) => jwk)
const clockToleranceMs = 5_000

async function openTokens(entriesMax = 1_000) {
  const verified = createVerifiedTokens(entriesMax, foreignClaimsBytes)
  return createForeignTokens({
    issuers: await openFileIssuers([fileIssuer(issuer, jwks, { email: ['email'] })], verified),
    ownIssuer: 'https://gateway.example.com',
    verified,
    clockToleranceMs,
    clock: Date.now,
  })
}

/** What Keycloak, Auth0, Entra and Cognito put into access tokens besides what all have. */
const realClaims: readonly object[] = [
  {
    typ: 'Bearer',
    azp: 'web',
    sid: '2f9a',
    acr: '1',
    realm_access: { roles: ['offline_access', 'uma_authorization'] },
    resource_access: { account: { roles: ['manage-account'] } },
    scope: 'email profile',
    email_verified: true,
    email: 'ada@example.com',
    preferred_username: 'ada',
  },
  {
    sub: 'auth0|64f0c0',
    aud: ['orders', 'https://example.eu.auth0.com/userinfo'],
    azp: 'x',
    permissions: ['read:orders'],
  },
  {
    ver: '2.0',
    oid: '00000000-0000-0000-66f3-3332eca7ea81',
    tid: '9122040d',
    scp: 'read',
    roles: ['Orders.Admin'],
    uti: 'x',
  },
  {
    token_use: 'access',
    'cognito:groups': ['ops'],
    client_id: 'x',
    version: 2,
    username: 'ada',
    auth_time: 1,
  },
]

const orders = {
  ES256: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  ES384: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
  ES512:
    0x01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
  EdDSA: 0x1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3edn,
} as const

const toNumber = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`)
const toBytes = (value: bigint, length: number) =>
  Buffer.from(
    value
      .toString(16)
      .padStart(length * 2, '0')
      .slice(-length * 2),
    'hex',
  )
const reversed = (bytes: Uint8Array) => Buffer.from(bytes.toReversed())

/** Signatures in the manner of Project Wycheproof: values out of range, other encodings, other parameters. */
function wrongSignatures(
  alg: IssuerAlgorithm,
  signed: string,
  right: Buffer,
): readonly (readonly [string, Buffer])[] {
  const { privateKey } = keys.get(alg) ?? {}
  if (!privateKey) throw new Error(`no key for ${alg}`)
  const key = KeyObject.from(privateKey)
  const particular =
    alg.startsWith('ES') || alg === 'EdDSA'
      ? ofCurve(alg, right, { key, signed })
      : ofRsa(alg, right, { key, signed })
  return [...particular, ...ofAny(right)]
}

function ofAny(right: Buffer): readonly (readonly [string, Buffer])[] {
  const flipped = (index: number, bit: number) => {
    const copy = Buffer.from(right)
    copy[index] = (copy[index] ?? 0) ^ bit
    return copy
  }
  return [
    ['empty', Buffer.alloc(0)],
    ['a byte shorter', right.subarray(0, -1)],
    // A number without its leading zero is the same number, and OpenSSL takes it (RFC 8017 8.1.2 would not).
    ...(right[0] === 0 ? [] : [['without its first byte', right.subarray(1)] as const]),
    ['a byte longer', Buffer.concat([right, Buffer.alloc(1)])],
    ['twice', Buffer.concat([right, right])],
    ['with its first bit flipped', flipped(0, 0x80)],
    ['with its last bit flipped', flipped(right.length - 1, 0x01)],
    ['of ones', Buffer.alloc(right.length, 0xff)],
  ]
}

type By = { readonly key: KeyObject; readonly signed: string }

function ofCurve(
  alg: IssuerAlgorithm,
  right: Buffer,
  { key, signed }: By,
): readonly (readonly [string, Buffer])[] {
  const half = right.length / 2
  const [r, s] = [right.subarray(0, half), right.subarray(half)]
  if (alg === 'EdDSA') {
    const larger = reversed(toBytes(toNumber(reversed(s)) + orders.EdDSA, half))
    const high = Buffer.from(s)
    high[31] = (high[31] ?? 0) | 0xe0
    const order = reversed(toBytes(orders.EdDSA, half))
    // 2^255 - 19, which encodes the same as 0, and 1 more, which encodes the neutral point a second time.
    const prime = reversed(toBytes(2n ** 255n - 19n, half))
    const primeAndOne = reversed(toBytes(2n ** 255n - 18n, half))
    return [
      ['S with its three highest bits set', Buffer.concat([r, high])],
      ['S of L', Buffer.concat([r, order])],
      ['R of p', Buffer.concat([prime, s])],
      ['R the neutral point, not canonical', Buffer.concat([primeAndOne, Buffer.alloc(half)])],
      ['R of 0', Buffer.concat([Buffer.alloc(half), s])],
      ['S of S + L', Buffer.concat([r, larger])],
      ['S of 0', Buffer.concat([r, Buffer.alloc(half)])],
      ['R the neutral point, S of 0', Buffer.concat([Buffer.from([1]), Buffer.alloc(63)])],
      ['R and S exchanged', Buffer.concat([s, r])],
      ['R with the other sign', Buffer.concat([r.subarray(0, -1), Buffer.from([(r.at(-1) ?? 0) ^ 0x80]), s])],
    ]
  }
  const n = orders[alg as 'ES256' | 'ES384' | 'ES512']
  const pair = (one: bigint, other: bigint) => Buffer.concat([toBytes(one, half), toBytes(other, half)])
  const [rn, sn] = [toNumber(r), toNumber(s)]
  const hash = `sha${alg.slice(2)}`
  return [
    ['r of 0', pair(0n, sn)],
    ['s of 0', pair(rn, 0n)],
    ['both 0', pair(0n, 0n)],
    ['r and s of 1', pair(1n, 1n)],
    ['r of n', pair(n, sn)],
    ['s of n', pair(rn, n)],
    ['r and s of n - 1', pair(n - 1n, n - 1n)],
    ['r of n, s of 1', pair(n, 1n)],
    ['s of -r', pair(rn, n - rn)],
    ['in DER', sign(hash, Buffer.from(signed), { key, dsaEncoding: 'der' })],
    ['with a byte of 0 before each', Buffer.concat([Buffer.alloc(1), r, Buffer.alloc(1), s])],
    ['r alone', r],
    [
      'with another digest',
      sign(hash === 'sha256' ? 'sha384' : 'sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }),
    ],
  ]
}

function ofRsa(
  alg: IssuerAlgorithm,
  right: Buffer,
  { key, signed }: By,
): readonly (readonly [string, Buffer])[] {
  const modulus = toNumber(Buffer.from(String(key.export({ format: 'jwk' }).n), 'base64url'))
  const value = toNumber(right)
  const hash = `sha${alg.slice(2)}`
  const other = hash === 'sha256' ? 'sha512' : 'sha256'
  const data = Buffer.from(signed)
  const bits = Number(alg.slice(2)) / 8
  const pss = (name: string, saltLength: number) =>
    sign(name, data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength })
  const plain = (name: string) => sign(name, data, { key, padding: constants.RSA_PKCS1_PADDING })
  return [
    ['of 0', toBytes(0n, right.length)],
    ['of 1', toBytes(1n, right.length)],
    ['of n - 1', toBytes(modulus - 1n, right.length)],
    ['of n', toBytes(modulus, right.length)],
    ['of n - s', toBytes(modulus - value, right.length)],
    ['of s + n, a byte longer', toBytes(value + modulus, right.length + 1)],
    ['with a byte of 0 before it', Buffer.concat([Buffer.alloc(1), right])],
    ['with the other padding', alg.startsWith('RS') ? pss(hash, bits) : plain(hash)],
    ['with another digest', alg.startsWith('RS') ? plain(other) : pss(other, other === 'sha256' ? 32 : 64)],
    ...(alg.startsWith('PS')
      ? [
          ['without salt', pss(hash, 0)] as const,
          ['with the longest salt', pss(hash, constants.RSA_PSS_SALTLEN_MAX_SIGN)] as const,
        ]
      : []),
  ]
}

for (const alg of issuerAlgorithms) {
  t.test(
    `defects over real claims, signed with ${alg}: none passes here, by jose or by fast-jwt`,
    async (t) => {
      const tokens = await openTokens()
      const accepted = new Set(['corp'])
      const key = keys.get(alg)
      if (!key) throw new Error(`no key for ${alg}`)
      // The casts are sound: the keys are those that jose has made.
      const keySet = createLocalJWKSet({ keys: jwks } as unknown as JSONWebKeySet)
      const publicKey = createPublicKey({ format: 'jwk', key: key.jwk as webcrypto.JsonWebKey })
      const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString()
      const verify = createVerifier({
        key: pem,
        algorithms: [alg],
        allowedIss: issuer,
        allowedAud: 'orders',
        requiredClaims: ['iss', 'aud', 'sub', 'exp'],
      })
      const verdicts = async (token: string) => {
        const verdict = await tokens.verify(token, accepted)
        const jose = await jwtVerify(token, keySet, { issuer, audience: 'orders', algorithms: [alg] }).then(
          () => true,
          () => false,
        )
        let fastJwt = true
        try {
          verify(token)
        } catch {
          fastJwt = false
        }
        return [verdict?.kind === 'valid', jose, fastJwt]
      }
      for (const claims of realClaims) {
        const token = await signToken(key, rightClaims(issuer, { ...claims }))
        t.strictSame(await verdicts(token), [true, true, true])
        const signed = token.slice(0, token.lastIndexOf('.'))
        const right = Buffer.from(token.slice(signed.length + 1), 'base64url')
        const wrong = wrongSignatures(alg, signed, right)
        t.ok(wrong.length >= 15, `${wrong.length} defects of signatures`)
        for (const [what, signature] of wrong) {
          const forged = `${signed}.${signature.toString('base64url')}`
          t.strictSame(await verdicts(forged), [false, false, false], what)
        }
        for (const [what, changes] of [
          ['expired', { exp: Math.floor(Date.now() / 1_000) - 60 }],
          ['not yet valid', { nbf: Math.floor(Date.now() / 1_000) + 60 }],
          ['of another issuer', { iss: 'https://id.example.com/realms/other' }],
          ['for another audience', { aud: 'others' }],
        ] as const)
          t.strictSame(
            await verdicts(await signToken(key, rightClaims(issuer, { ...claims, ...changes }))),
            [false, false, false],
            what,
          )
      }
    },
  )
}

t.test('a foreign token that was seen takes at most 1,000 bytes, so 100,000 take 100 MB', async (t) => {
  const tokens = await openTokens(tokensInMemory)
  const accepted = new Set(['corp'])
  const key = keys.get('ES256')
  if (!key) throw new Error('no key')
  await tokens.verify(await signToken(key, rightClaims(issuer)), accepted)
  gc()
  const before = process.memoryUsage().heapUsed
  for (let index = 0; index < tokensInMemory; index++) {
    const claims = { sub: `auth0|64f0c0aa${index}`, email: `user${index}@example.com`, scope: 'read write' }
    await tokens.verify(
      await signToken(key, rightClaims(issuer, { ...claims, roles: ['x'.repeat(500)] })),
      accepted,
    )
  }
  gc()
  const each = (process.memoryUsage().heapUsed - before) / tokensInMemory
  t.comment(`${Math.round(each)} bytes`)
  t.ok(each < 1_000, `${each} bytes`)
})
