import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import {
  compactDigest,
  createAccountId,
  createKey,
  digestOf,
  findCompactKey,
  findKey,
  isApiKeyOf,
  type KeyKind,
  parseKey,
} from '#platform/secrets/keys.ts'
import { createOldKey, withChecksum } from '../../setup/old-keys.ts'

const kinds: readonly KeyKind[] = ['secretKey', 'apiKey']
/** The shortest, the longest, and some between. */
const prefixes = ['g', 'gate', 'acme2', 'a0123456789abcde']
const alphabet = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-']

t.test('a key encodes kind, account, 256 random bits and a checksum', async (t) => {
  const id = createAccountId()
  t.match(id, /^[0-9A-Za-z]{16}$/)
  t.match(createKey('secretKey', id), new RegExp(`^gate_sk_${id}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$`))
  t.match(createKey('apiKey', id), new RegExp(`^gate_ak_${id}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$`))
  t.match(createKey('secretKey', id, 'acme'), new RegExp(`^acme_sk_${id}_`))
  t.equal(createOldKey('secretKey', id).length, 71)
  t.equal(createKey('secretKey', id, 'a'.repeat(16)).length, 87)
})

t.test('keys are unique and use every letter and digit', async (t) => {
  const id = createAccountId()
  const keys = Array.from({ length: 2_000 }, () => createKey('secretKey', id))
  t.equal(new Set(keys).size, keys.length)
  t.equal(new Set(Array.from({ length: 2_000 }, createAccountId)).size, 2_000)
  const counts = new Map<string, number>()
  for (const letter of keys.flatMap((key) => [...key.slice(-50, -7)])) {
    counts.set(letter, (counts.get(letter) ?? 0) + 1)
  }
  // 86000 letters over 62: each comes about 1387 times, give or take 37.
  t.equal(counts.size, 62)
  for (const [letter, count] of counts) t.ok(count > 1_100 && count < 1_700, `${letter} came ${count} times`)
})

t.test('a key parses back to its account and a digest of all of it', async (t) => {
  for (const kind of kinds) {
    const id = createAccountId()
    for (const key of [createOldKey(kind, id), ...prefixes.map((prefix) => createKey(kind, id, prefix))])
      assertParsed(kind, key, id)
  }

  function assertParsed(kind: KeyKind, key: string, id: string): void {
    const parsed = parseKey(kind, key)
    t.equal(parsed?.accountId, id)
    const sha256 = createHash('sha256').update(key).digest('hex')
    t.equal(Buffer.from(parsed?.digest ?? []).toString('hex'), sha256)
    t.equal(Buffer.from(digestOf(key)).toString('hex'), sha256)
  }
})

t.test('a key of the other kind is refused', async (t) => {
  const id = createAccountId()
  t.equal(parseKey('secretKey', createKey('apiKey', id)), undefined)
  t.equal(parseKey('apiKey', createKey('secretKey', id)), undefined)
  t.equal(parseKey('secretKey', createOldKey('apiKey', id)), undefined)
  t.equal(parseKey('apiKey', createOldKey('secretKey', id)), undefined)
})

t.test('a key with a prefix that cannot be configured is refused, whatever its checksum', async (t) => {
  const rest = createKey('secretKey', createAccountId()).slice('gate'.length, -7)
  t.ok(parseKey('secretKey', withChecksum(`gate${rest}`)))
  for (const prefix of [
    '',
    'a'.repeat(17),
    '1a',
    'Gate',
    'gAte',
    'ga_te',
    'ga-te',
    '_',
    'gat\u00e9',
    'gsk'.repeat(9),
  ])
    t.equal(parseKey('secretKey', withChecksum(`${prefix}${rest}`)), undefined, prefix)
  for (const mark of ['_SK_', '_xk_', '_sk-', '-sk_', '__sk', 'sk__'])
    t.equal(parseKey('secretKey', withChecksum(`gate${mark}${rest.slice(4)}`)), undefined, mark)
})

t.test('the prefix of a key is under its checksum', async (t) => {
  const key = createKey('secretKey', createAccountId(), 'acme')
  t.ok(parseKey('secretKey', key))
  for (const other of ['acmf', 'acm', 'acmee', 'gate']) {
    t.equal(parseKey('secretKey', key.replace('acme', other)), undefined, other)
  }
})

t.test('a key with any one character changed is refused', async (t) => {
  for (const [kind, create] of kinds.flatMap((kind) => [
    [kind, createKey] as const,
    [kind, createOldKey] as const,
  ])) {
    const key = create(kind, createAccountId())
    const accepted: string[] = []
    for (let index = 0; index < key.length; index++) {
      for (const letter of alphabet) {
        if (letter === key[index]) continue
        const changed = key.slice(0, index) + letter + key.slice(index + 1)
        for (const each of kinds) if (parseKey(each, changed)) accepted.push(changed)
      }
    }
    t.strictSame(accepted, [])
  }
})

t.test('a key with two adjacent characters swapped is refused', async (t) => {
  const key = createKey('secretKey', createAccountId())
  for (let index = 0; index < key.length - 1; index++) {
    const [a = '', b = ''] = key.slice(index, index + 2)
    if (a === b) continue
    t.equal(parseKey('secretKey', key.slice(0, index) + b + a + key.slice(index + 2)), undefined)
  }
})

t.test('text that is not a key is refused', async (t) => {
  const key = createKey('secretKey', createAccountId())
  const texts = {
    nothing: '',
    'cut short': key.slice(0, -1),
    'without its beginning': key.slice(1),
    'too long': `${key}0`,
    'with a line break at its end': `${key}\n`,
    'with a line break for its last letter': `${key.slice(0, -1)}\n`,
    'with a space before': ` ${key}`,
    'with a space before, in all as long': ` ${key.slice(0, -1)}`,
    twice: `${key}, ${key}`,
    'in capitals': key.toUpperCase(),
    'with letters of another script': key.replace('gate', 'gаte'),
    'with NUL': `${key.slice(0, 30)}\0${key.slice(31)}`,
    'of dots': '.'.repeat(key.length),
    'of megabytes': 'gate_sk_'.repeat(1_000_000),
    __proto__: '__proto__',
  }
  for (const [name, text] of Object.entries(texts)) t.equal(parseKey('secretKey', text), undefined, name)
})

t.test('a right checksum does not make a key of other characters', async (t) => {
  const id = createAccountId()
  const body = createKey('secretKey', id).slice(0, -7)
  t.equal(parseKey('secretKey', withChecksum(body))?.accountId, id)
  for (const place of [0, 3, 4, 5, 6, 7, 8, 23, 24, 25, 67]) {
    // The last have the low byte of a letter.
    for (const letter of ['-', '.', ' ', '\0', '\u007f', '\u00e9', '\u0141', '\u015f']) {
      const changed = body.slice(0, place) + letter + body.slice(place + 1)
      t.equal(parseKey('secretKey', withChecksum(changed)), undefined, `${letter} at ${place}`)
    }
  }
  const whole = withChecksum(body)
  for (const letter of ['-', '\u0141']) {
    t.equal(parseKey('secretKey', `${whole.slice(0, 68)}${letter}${whole.slice(69)}`), undefined)
    t.equal(parseKey('secretKey', whole.slice(0, -1) + letter), undefined)
  }
  t.equal(parseKey('secretKey', `${whole.slice(0, 69)}zzzzzz`), undefined, 'more than a CRC-32 can be')
})

const [one, two, other] = [randomBytes(32), randomBytes(32), randomBytes(32)]
const keys = [{ digest: one }, { digest: two }]

t.test('a digest finds the key that has it, whichever it is', async (t) => {
  t.equal(findKey(keys, one), keys[0])
  t.equal(findKey(keys, Buffer.from(two)), keys[1])
  t.equal(findKey(keys, other), undefined)
  t.equal(findKey([], one), undefined)
  t.equal(findKey([], new Uint8Array(32)), undefined)
})

t.test("only an account's own API key matches", async (t) => {
  t.equal(isApiKeyOf({ apiKey: { digest: other } }, other), true)
  t.equal(isApiKeyOf({ apiKey: { digest: other } }, one), false)
  t.equal(isApiKeyOf(undefined, one), false)
  t.equal(isApiKeyOf(undefined, new Uint8Array(32)), false)
})

t.test('no digest matches a stored one of another length', async (t) => {
  for (const digest of [new Uint8Array(), one.subarray(0, 31), Buffer.concat([one, two])]) {
    for (const given of [one, new Uint8Array(32)]) {
      t.equal(findKey([{ digest }], given), undefined)
      t.equal(isApiKeyOf({ apiKey: { digest } }, given), false)
    }
  }
})

t.test('a digest that is kept as a text is found as well, by all of its bytes', async (t) => {
  const digests = Array.from({ length: 20 }, () => randomBytes(32))
  const keys = digests.map((digest) => ({ digest: compactDigest(digest) }))
  t.ok(keys.every(({ digest }) => digest.length === 32))
  for (const [index, digest] of digests.entries()) t.equal(findCompactKey(keys, digest), keys[index])
  t.equal(findCompactKey(keys, randomBytes(32)), undefined)
  t.equal(findCompactKey([], randomBytes(32)), undefined)
  const [one = Buffer.alloc(32)] = digests
  for (let place = 0; place < 32; place++) {
    const changed = Buffer.from(one)
    changed[place] = (changed[place] ?? 0) ^ 1
    t.equal(findCompactKey(keys, changed), undefined, `byte ${place}`)
  }
  for (const other of [one.subarray(1), one.subarray(0, 31), Buffer.concat([one, Buffer.alloc(1)])])
    t.equal(findCompactKey(keys, other), undefined, `${other.length} bytes`)
})
