import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import t from 'tap'
import { load, minimalConfig, problemMessages } from '../config-fixtures.ts'

const pem = ({ privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject }) => ({
  private: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  public: String(publicKey.export({ type: 'spki', format: 'pem' })),
})
const ec = pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
const p384 = pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }))
const ed = pem(generateKeyPairSync('ed25519'))
const rsa = pem(generateKeyPairSync('rsa', { modulusLength: 2_048 }))
const shortRsa = pem(generateKeyPairSync('rsa', { modulusLength: 1_024 }))

interface Key {
  readonly kid?: string
  readonly use?: 'sign' | 'verify'
  /** Texts of the private and the public key. */
  readonly private?: string
  readonly public?: string
}

/** A config whose keys are files, and those files. */
function setUp(algorithm: string, keys: readonly Key[]) {
  const files: Record<string, string> = {}
  const list = keys.map(({ kid = 'k', use = 'sign', ...halves }, index) => {
    const references = Object.entries(halves).map(([half, text]) => {
      files[`config/${index}.${half}`] = text
      return [half, { file: `${index}.${half}` }]
    })
    return { kid, use, ...Object.fromEntries(references) }
  })
  return [{ ...minimalConfig, tokens: { algorithm, keys: list } }, { files }] as const
}

const secret = 's'.repeat(32)

t.test('a signing key may be of each algorithm', async (t) => {
  const keys: Readonly<Record<string, string>> = {
    ES256: ec.private,
    EdDSA: ed.private,
    RS256: rsa.private,
    HS256: secret,
  }
  for (const [algorithm, text] of Object.entries(keys)) {
    const { tokens } = load(t, ...setUp(algorithm, [{ private: text }]))
    t.match(tokens.keys, [{ kid: 'k', use: 'sign', material: { algorithm } }])
  }
})

t.test('a verifying key may be of any algorithm, and public only', async (t) => {
  const older = [
    { kid: 'a', use: 'verify', public: rsa.public },
    { kid: 'b', use: 'verify', private: ed.private },
    { kid: 'c', use: 'verify', public: ec.private },
  ] as const
  const { tokens } = load(t, ...setUp('ES256', [{ private: ec.private }, ...older]))
  t.strictSame(
    tokens.keys.map(({ kid, use, material }) => [
      kid,
      use,
      material.algorithm,
      material.privateKey !== undefined,
    ]),
    [
      ['k', 'sign', 'ES256', true],
      ['a', 'verify', 'RS256', false],
      ['b', 'verify', 'EdDSA', true],
      ['c', 'verify', 'ES256', false],
    ],
  )
})

const at = 'tokens.keys[0]'
const cases: readonly (readonly [what: string, algorithm: string, key: Key, complaint: string])[] = [
  [
    'a signing key of another algorithm',
    'ES256',
    { private: ed.private },
    `${at}.private: is a key for EdDSA, but tokens.algorithm is ES256`,
  ],
  [
    'a PEM key where a secret is meant',
    'HS256',
    { private: rsa.private },
    `${at}.private: is a key for RS256, but tokens.algorithm is HS256`,
  ],
  [
    'a public key in place of the private one',
    'ES256',
    { private: ec.public },
    `${at}.private: contains no PEM private key`,
  ],
  [
    'a signing key without its private half',
    'ES256',
    { public: ec.public },
    `${at}.private: is missing: this key signs`,
  ],
  [
    'an RSA key that is too short',
    'RS256',
    { private: shortRsa.private },
    `${at}.private: is an RSA key of 1024 bits: the minimum is 2048`,
  ],
  [
    'a curve that no algorithm has',
    'ES256',
    { private: p384.private },
    `${at}.private: must be a P-256, RSA or Ed25519 key`,
  ],
  ['a text that is no key', 'ES256', { private: secret }, `${at}.private: contains no PEM key`],
  [
    'a secret of 31 bytes',
    'HS256',
    { private: 's'.repeat(31) },
    `${at}.private: is a secret of 31 bytes: the minimum is 32`,
  ],
  [
    'a broken PEM',
    'ES256',
    { private: ec.private.replace('\n', '\nx') },
    `${at}.private: contains no PEM private key`,
  ],
]

for (const [what, algorithm, key, complaint] of cases) {
  t.test(`a bad token key is refused, and not repeated: ${what}`, async (t) => {
    t.strictSame(problemMessages(t, ...setUp(algorithm, [key])), [complaint])
  })
}

t.test('an empty token secret is refused', async (t) => {
  t.strictSame(problemMessages(t, ...setUp('HS256', [{ private: '\n' }])), [
    `${at}.private: config/0.private is empty`,
  ])
})

t.test('a verifying key needs its public or its private half', async (t) => {
  const signer = { kid: 's', private: ec.private }
  t.strictSame(problemMessages(t, ...setUp('ES256', [{ use: 'verify' }, signer])), [
    `${at}.public: is missing`,
  ])
})

t.test('a public key beside a private one must be readable, and of the same key', async (t) => {
  const otherEc = pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
  const problemsOf = (algorithm: string, key: Key) => problemMessages(t, ...setUp(algorithm, [key]))
  for (const [algorithm, key] of [
    ['ES256', ec],
    ['EdDSA', ed],
    ['RS256', rsa],
    ['HS256', { private: secret, public: secret }],
  ] as const)
    t.strictSame(problemsOf(algorithm, key), [], algorithm)
  const mismatch = [`${at}.public: does not belong to the key in private`]
  t.strictSame(problemsOf('ES256', { private: ec.private, public: otherEc.public }), mismatch)
  t.strictSame(problemsOf('ES256', { private: ec.private, public: ed.public }), mismatch)
  t.strictSame(problemsOf('HS256', { private: secret, public: 'x'.repeat(32) }), mismatch)
  t.strictSame(problemsOf('HS256', { private: secret, public: ec.public }), mismatch)
  t.strictSame(problemsOf('ES256', { private: ec.private, public: secret }), [
    `${at}.public: contains no PEM key`,
  ])
  const [config] = setUp('ES256', [ec])
  t.strictSame(problemMessages(t, config, { files: { 'config/0.private': ec.private } }), [
    `${at}.public: cannot read config/0.public: no such file or directory`,
  ])
  const verifying = { kid: 'v', use: 'verify', private: ec.private, public: otherEc.public } as const
  t.strictSame(problemMessages(t, ...setUp('ES256', [{ private: ec.private }, verifying])), [
    'tokens.keys[1].public: does not belong to the key in private',
  ])
})

t.test('exactly one key signs, and key IDs are unique', async (t) => {
  const signer = { private: ec.private }
  t.strictSame(problemMessages(t, ...setUp('ES256', [signer, { ...signer, kid: 'b' }])), [
    'tokens.keys: exactly one key must have use: sign, not 2',
  ])
  t.strictSame(problemMessages(t, ...setUp('ES256', [{ use: 'verify', public: ec.public }])), [
    'tokens.keys: exactly one key must have use: sign, not 0',
  ])
  t.strictSame(problemMessages(t, ...setUp('ES256', [signer, { use: 'verify', public: ec.public }])), [
    'tokens.keys[1].kid: duplicate kid "k"',
  ])
  for (const kid of ['', 'a b', 'a/b', 'é', 'a'.repeat(129)]) {
    t.match(problemMessages(t, ...setUp('ES256', [{ kid, ...signer }])), [
      /^tokens\.keys\[0\]\.kid: has an invalid format/,
    ])
  }
})
