import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import t from 'tap'
import {
  type Algorithm,
  generateKeyMaterial,
  keyText,
  parseKeyMaterial,
} from '#identity/tokens/key-material.ts'

const asymmetric: readonly Algorithm[] = ['ES256', 'RS256', 'EdDSA']

const privatePem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const publicPem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()

function unfitness(text: string, half: 'private' | 'public', algorithm: Algorithm = 'ES256'): string {
  const material = parseKeyMaterial(text, half, algorithm)
  return 'unfit' in material ? material.unfit : `fit for ${material.algorithm}`
}

t.test('a new signing key is strong, and different each time', async (t) => {
  t.match(generateKeyMaterial('ES256').publicKey.asymmetricKeyDetails, { namedCurve: 'prime256v1' })
  t.match(generateKeyMaterial('RS256').publicKey.asymmetricKeyDetails, { modulusLength: 2_048 })
  t.equal(generateKeyMaterial('EdDSA').publicKey.asymmetricKeyType, 'ed25519')
  t.ok((generateKeyMaterial('HS256').publicKey.symmetricKeySize ?? 0) >= 32)
  for (const algorithm of ['ES256', 'EdDSA', 'HS256'] as const) {
    const texts = Array.from({ length: 20 }, () => keyText(generateKeyMaterial(algorithm).publicKey, 'spki'))
    t.equal(new Set(texts).size, 20, algorithm)
  }
})

t.test('a signing key parses back from its PEM, private or public', async (t) => {
  for (const algorithm of asymmetric) {
    const made = generateKeyMaterial(algorithm)
    const privateText = keyText(made.privateKey ?? made.publicKey, 'pkcs8')
    const publicText = keyText(made.publicKey, 'spki')
    const whole = parseKeyMaterial(privateText, 'private', algorithm)
    const half = parseKeyMaterial(publicText, 'public', algorithm)
    if ('unfit' in whole || 'unfit' in half) throw new Error(algorithm)
    t.equal(whole.algorithm, algorithm)
    t.ok(whole.privateKey && made.privateKey?.equals(whole.privateKey))
    t.ok(whole.publicKey.equals(made.publicKey))
    t.equal(half.privateKey, undefined)
    t.ok(half.publicKey.equals(made.publicKey))
  }
  const secret = generateKeyMaterial('HS256')
  const read = parseKeyMaterial(keyText(secret.publicKey, 'spki'), 'private', 'HS256')
  t.ok(!('unfit' in read) && read.publicKey.equals(secret.publicKey))
})

t.test('older forms of PEM and any line breaks are parsed', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const sec1 = privateKey.export({ type: 'sec1', format: 'pem' }).toString()
  const pkcs1 = rsa.export({ type: 'pkcs1', format: 'pem' }).toString()
  t.equal(unfitness(sec1, 'private'), 'fit for ES256')
  t.equal(unfitness(pkcs1, 'private'), 'fit for RS256')
  t.equal(unfitness(sec1.replaceAll('\n', '\r\n'), 'private'), 'fit for ES256')
  t.equal(unfitness(`\n${sec1}\n`, 'private'), 'fit for ES256')
})

t.test('a key of another algorithm than requested is refused', async (t) => {
  for (const asked of ['ES256', 'RS256', 'EdDSA', 'HS256'] as const) {
    t.equal(
      unfitness(privatePem(generateKeyPairSync('ed25519').privateKey), 'private', asked),
      'fit for EdDSA',
    )
  }
})

t.test('a secret of HS256 has at least 32 bytes', async (t) => {
  for (const text of ['', ' ', 'secret', 'x'.repeat(31), 'ä'.repeat(15)]) {
    t.match(unfitness(text, 'private', 'HS256'), /the minimum is 32/, `${text.length} characters`)
  }
  for (const text of ['x'.repeat(32), 'ä'.repeat(16), 'x'.repeat(1_000)]) {
    t.equal(unfitness(text, 'private', 'HS256'), 'fit for HS256')
  }
})

t.test('an HS256 secret is refused for another algorithm', async (t) => {
  for (const algorithm of asymmetric) t.match(unfitness('x'.repeat(64), 'private', algorithm), /PEM/)
})

t.test('an RSA key has at least 2048 bits', async (t) => {
  for (const bits of [512, 1_024, 2_040]) {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: bits })
    t.match(
      unfitness(privatePem(privateKey), 'private', 'RS256'),
      new RegExp(`${bits} bits: the minimum is 2048`),
    )
    t.match(
      unfitness(publicPem(publicKey), 'public', 'RS256'),
      new RegExp(`${bits} bits: the minimum is 2048`),
    )
  }
})

t.test('an RSA key has an exponent of at least 65537', async (t) => {
  for (const publicExponent of [3, 17, 65_535]) {
    const pair = generateKeyPairSync('rsa', { modulusLength: 2_048, publicExponent })
    const problem = new RegExp(`exponent ${publicExponent}: the minimum is 65537`)
    t.match(unfitness(privatePem(pair.privateKey), 'private', 'RS256'), problem)
    t.match(unfitness(publicPem(pair.publicKey), 'public', 'RS256'), problem)
  }
  const { n = '' } = generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export({ format: 'jwk' })
  const one = createPublicKey({ key: { kty: 'RSA', n, e: 'AQ' }, format: 'jwk' })
  t.match(unfitness(publicPem(one), 'public', 'RS256'), /exponent 1: the minimum is 65537/)
})

t.test('a key of another kind or curve is refused', async (t) => {
  const pairs = {
    'P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    'P-521': generateKeyPairSync('ec', { namedCurve: 'P-521' }),
    secp256k1: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
    Ed448: generateKeyPairSync('ed448'),
    X25519: generateKeyPairSync('x25519'),
    'RSA-PSS': generateKeyPairSync('rsa-pss', { modulusLength: 2_048 }),
    DSA: generateKeyPairSync('dsa', { modulusLength: 2_048, divisorLength: 256 }),
  }
  for (const [name, { privateKey, publicKey }] of Object.entries(pairs)) {
    t.match(unfitness(privatePem(privateKey), 'private'), /must be a P-256, RSA or Ed25519 key/, name)
    t.match(unfitness(publicPem(publicKey), 'public'), /must be a P-256, RSA or Ed25519 key/, name)
  }
})

t.test('text that is not a key is refused without repeating it', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privatePem(privateKey)
  const locked = privateKey
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
    .toString()
  const texts = {
    'a public key for a private one': publicPem(createPublicKey(pem)),
    'one that is locked': locked,
    'one that is cut short': pem.slice(0, pem.length / 2),
    'one that was changed': pem.replace(/MIG/, 'AAA'),
    'only its frame': '-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n',
  }
  for (const [name, text] of Object.entries(texts))
    t.equal(unfitness(text, 'private'), 'contains no PEM private key', name)
  t.equal(unfitness('', 'private'), 'contains no PEM key')
  t.equal(unfitness('-----BEGIN NONSENSE-----', 'public'), 'contains no PEM public key')
})
