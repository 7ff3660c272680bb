import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { toBase62 } from '../../src/platform/random.ts'
import {
  createAccountId,
  createKey,
  digestOf,
  type KeyKind,
  keyLength,
  parseKey,
} from '../../src/secrets/keys.ts'

const kinds: readonly KeyKind[] = ['secretKey', 'apiKey']
const alphabet = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-']

t.test('a key encodes kind, account, 256 random bits and a checksum', async (t) => {
  const id = createAccountId()
  t.match(id, /^[0-9A-Za-z]{16}$/)
  t.match(createKey('secretKey', id), new RegExp(`^gsk_${id}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$`))
  t.match(createKey('apiKey', id), new RegExp(`^gak_${id}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$`))
  for (const kind of kinds) t.equal(createKey(kind, id).length, keyLength)
})

t.test('keys are unique and use every letter and digit', async (t) => {
  const id = createAccountId()
  const keys = Array.from({ length: 2_000 }, () => createKey('secretKey', id))
  t.equal(new Set(keys).size, keys.length)
  t.equal(new Set(Array.from({ length: 2_000 }, createAccountId)).size, 2_000)
  const counts = new Map<string, number>()
  for (const letter of keys.flatMap((key) => [...key.slice(21, 64)])) {
    counts.set(letter, (counts.get(letter) ?? 0) + 1)
  }
  // 86000 letters over 62: each comes about 1387 times, give or take 37.
  t.equal(counts.size, 62)
  for (const [letter, count] of counts) t.ok(count > 1_100 && count < 1_700, `${letter} came ${count} times`)
})

t.test('a key parses back to its account and a digest of all of it', async (t) => {
  for (const kind of kinds) {
    const id = createAccountId()
    const key = createKey(kind, id)
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
})

t.test('a key with any one character changed is refused', async (t) => {
  for (const kind of kinds) {
    const key = createKey(kind, createAccountId())
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
    'with letters of another script': key.replace('gsk', 'gѕk'),
    'with NUL': `${key.slice(0, 30)}\0${key.slice(31)}`,
    'of dots': '.'.repeat(keyLength),
    'of megabytes': 'gsk_'.repeat(1_000_000),
    __proto__: '__proto__',
  }
  for (const [name, text] of Object.entries(texts)) t.equal(parseKey('secretKey', text), undefined, name)
})

t.test('a right checksum does not make a key of other characters', async (t) => {
  const id = createAccountId()
  const body = createKey('secretKey', id).slice(0, 64)
  const withChecksum = (text: string) => `${text}_${toBase62(crc32(Buffer.from(text, 'latin1')), 6)}`
  t.equal(parseKey('secretKey', withChecksum(body))?.accountId, id)
  for (const place of [3, 4, 19, 20, 21, 63]) {
    // The last have the low byte of a letter.
    for (const letter of ['-', '.', ' ', '\0', '\u007f', '\u00e9', '\u0141', '\u015f']) {
      const changed = body.slice(0, place) + letter + body.slice(place + 1)
      t.equal(parseKey('secretKey', withChecksum(changed)), undefined, `${letter} at ${place}`)
    }
  }
  const whole = withChecksum(body)
  for (const letter of ['-', '\u0141']) {
    t.equal(parseKey('secretKey', `${whole.slice(0, 64)}${letter}${whole.slice(65)}`), undefined)
    t.equal(parseKey('secretKey', whole.slice(0, -1) + letter), undefined)
  }
  t.equal(parseKey('secretKey', `${whole.slice(0, 65)}zzzzzz`), undefined, 'more than a CRC-32 can be')
})
