import { createHmac, createSecretKey } from 'node:crypto'
import t from 'tap'
import { keyText } from '#identity/tokens/key-material.ts'
import {
  createBench,
  encode,
  forge,
  type Json,
  newSigningKey,
  rightClaims,
  rightHeader,
  signatureOf,
} from './forged-tokens.ts'

const key = newSigningKey('key', 'ES256')
const rsa = newSigningKey('rsa', 'RS256')
const edwards = newSigningKey('edwards', 'EdDSA')
const hmac = newSigningKey('hmac', 'HS256')
const stranger = newSigningKey('key', 'ES256')
const { verify } = createBench([key, rsa, edwards, hmac])

const invalid = { kind: 'invalid' }

/** A right header with changes; undefined takes a member away. */
function headerWith(changes: Json): Json {
  return { ...rightHeader(key), ...changes }
}

t.test('the forgery tests accept a genuine token', async (t) => {
  for (const each of [key, rsa, edwards, hmac]) {
    t.equal(verify(forge(rightHeader(each), rightClaims, each.material)).kind, 'valid')
  }
})

t.test('an unsigned token is refused', async (t) => {
  for (const alg of ['none', 'None', 'NONE', 'nOnE', '', null, undefined]) {
    for (const signature of [
      '',
      'AA',
      signatureOf('x', 'ES256', stranger.material.privateKey ?? key.material.publicKey),
    ]) {
      t.match(verify(`${encode(headerWith({ alg }))}.${encode(rightClaims)}.${signature}`), invalid)
    }
  }
})

t.test('a token signed with the public key as HS256 secret is refused', async (t) => {
  for (const each of [key, rsa, edwards]) {
    const pem = keyText(each.material.publicKey, 'spki')
    const der = each.material.publicKey.export({ format: 'der', type: 'spki' })
    for (const secret of [
      pem,
      pem.trimEnd(),
      `${pem}\n`,
      der,
      JSON.stringify(each.material.publicKey.export({ format: 'jwk' })),
    ]) {
      const signed = `${encode({ ...rightHeader(each), alg: 'HS256' })}.${encode(rightClaims)}`
      const signature = createHmac('sha256', secret).update(signed).digest('base64url')
      t.match(verify(`${signed}.${signature}`), invalid)
    }
  }
})

t.test("a token naming another algorithm than its key's is refused", async (t) => {
  const all = [key, rsa, edwards, hmac]
  for (const claimed of all) {
    for (const signer of all.filter((each) => each !== claimed)) {
      const asKey = { ...rightHeader(claimed), alg: signer.algorithm }
      t.match(verify(forge(asKey, rightClaims, signer.material)), invalid)
      t.match(verify(forge(rightHeader(claimed), rightClaims, signer.material)), invalid)
    }
  }
  const secret = createSecretKey(hmac.material.publicKey.export())
  for (const [alg, hash] of [
    ['HS384', 'sha384'],
    ['HS512', 'sha512'],
  ] as const) {
    const signed = `${encode({ ...rightHeader(hmac), alg })}.${encode(rightClaims)}`
    const signature = createHmac(hash, secret).update(signed).digest('base64url')
    t.match(verify(`${signed}.${signature}`), invalid, alg)
  }
})

t.test('a token with an unknown key ID is refused', async (t) => {
  const kids = [
    'unknown',
    '',
    'KEY',
    'key ',
    'rsa',
    '../key',
    '/dev/null',
    "' OR 1=1 --",
    '__proto__',
    'constructor',
    0,
    null,
    true,
    ['key'],
    { key: 'key' },
    undefined,
  ]
  for (const kid of kids) {
    t.match(verify(forge(headerWith({ kid }), rightClaims, key.material)), invalid, JSON.stringify(kid))
  }
})

t.test('a key inside a token is ignored', async (t) => {
  const jwk = stranger.material.publicKey.export({ format: 'jwk' })
  const certificate = stranger.material.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  const extras: readonly Json[] = [
    { jwk },
    { jwk: { ...jwk, kid: 'key' } },
    { jku: 'http://127.0.0.1:1/jwks.json' },
    { x5u: 'http://127.0.0.1:1/cert.pem' },
    { x5c: [certificate] },
    { jwk, kid: undefined },
    { jwk, kid: 'new' },
  ]
  for (const extra of extras) {
    t.match(
      verify(forge(headerWith(extra), rightClaims, stranger.material)),
      invalid,
      Object.keys(extra).join(),
    )
  }
})

t.test('a token with a crit header is refused, even if signed', async (t) => {
  for (const crit of [['exp'], ['b64'], [], 'exp', null, {}]) {
    t.match(verify(forge(headerWith({ crit, b64: false }), rightClaims, key.material)), invalid)
  }
})

t.test('a token of another typ is refused', async (t) => {
  for (const typ of [
    'JWT',
    'at+JWT',
    'AT+JWT',
    'application/at+jwt',
    'at+jwt ',
    '',
    'id+jwt',
    null,
    ['at+jwt'],
    undefined,
  ]) {
    t.match(verify(forge(headerWith({ typ }), rightClaims, key.material)), invalid, JSON.stringify(typ))
  }
})

t.test('a token with a duplicate header member is refused', async (t) => {
  const twice = `{"alg":"ES256","typ":"at+jwt","kid":"key","alg":"none"}`
  t.match(verify(`${encode(twice)}.${encode(rightClaims)}.`), invalid)
  t.match(verify(forge(twice, rightClaims, key.material)), invalid)
})
