import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createRefreshTokens, createSessionId } from '#identity/tokens/refresh-tokens.ts'
import {
  hideKnownSecrets,
  hideSecrets,
  longestSpelling,
  secretPlaceholder,
  secretStartPattern,
} from '#platform/secrets/hide-secrets.ts'
import { createAccountId, createKey } from '#platform/secrets/keys.ts'
import { createLinkToken, createPortalToken } from '#platform/secrets/link-tokens.ts'
import { createOldKey } from '../../setup/old-keys.ts'

const id = createAccountId()
const secrets = {
  'a secret key': createKey('secretKey', id),
  'an API key': createKey('apiKey', id),
  'a secret key of the old form': createOldKey('secretKey', id),
  'an API key of the old form': createOldKey('apiKey', id),
  'a refresh token': createRefreshTokens(Buffer.alloc(32)).create(createSessionId(), 1),
  'a set-up link': createLinkToken('setup', id).token,
  'a verification link': createLinkToken('email', id).token,
  'a portal session': createPortalToken(id).token,
}

for (const [kind, secret] of Object.entries(secrets)) {
  t.test(`log redaction hides ${kind} anywhere, in upper case too`, async (t) => {
    t.match(secret, secretStartPattern)
    t.equal(hideSecrets(`/files/${secret}/x`), `/files/${secretPlaceholder}/x`)
    t.equal(hideSecrets(`/files/${secret.replace('_', '%5f')}`), `/files/${secretPlaceholder}`)
    for (const spelling of [secret.toUpperCase(), secret.toLowerCase()]) {
      t.match(spelling, secretStartPattern)
      t.equal(hideSecrets(`/files/${spelling}/x`), `/files/${secretPlaceholder}/x`, spelling)
    }
  })
}

t.test('log redaction leaves text that only begins like a secret', async (t) => {
  for (const path of [
    '/gps_tracks/7',
    '/gps_',
    '/bags/gsk',
    '/GPS_TRACKS/7',
    '/eyes',
    '/keyjob.x',
    '/page_sk_SK',
    '/a_sk_12',
  ])
    t.equal(hideSecrets(path), path)
})

t.test(
  'log redaction hides a key whatever its prefix, mistyped or cut short, but not the prefix',
  async (t) => {
    const key = createKey('secretKey', id, 'acme')
    const shown = `/files/acme${secretPlaceholder}`
    for (const spelling of [key, key.slice(0, -20), key.replace(id, id.slice(1)), key.replace(id, `${id}x`)])
      t.equal(hideSecrets(`/files/${spelling}`), shown, spelling)
    t.equal(hideSecrets(`/files/${key.toUpperCase()}`), shown.replace('acme', 'ACME'))
    t.equal(hideSecrets(`/files/${createKey('secretKey', id).slice(0, 12)}`), `/files/${secretPlaceholder}`)
  },
)

t.test('log redaction hides what begins within what looks like the start of a token', async (t) => {
  const key = createKey('secretKey', id)
  for (const [text, shown] of [
    [`/eyJeyJ${key}`, `/eyJeyJ${secretPlaceholder}`],
    [`/eyJ~${key}.html`, `/eyJ~${secretPlaceholder}`],
    [`/eyJ.eyJhbGciOiJub25lIn0.e30.x`, `/eyJ.${secretPlaceholder}`],
    ['/eyJeyJhbGciOiJub25lIn0.e30.x/y', `/${secretPlaceholder}/y`],
    ['/aeyJhbGciOiJub25lIn0.e30.x', `/a${secretPlaceholder}`],
    ['/eyJeyJeyJ', '/eyJeyJeyJ'],
    ['/eyJeyJ.', '/eyJeyJ.'],
  ] as const)
    t.equal(hideSecrets(text), shown, text)
})

const key = `gate_sk_0123456789abcdef_${randomBytes(32).toString('base64url')}_x9Y`
const knownSecrets = [{ text: key, placeholder: '[your secret]' }]
const base64 = (text: string) => Buffer.from(text).toString('base64')
const spell = (write: (code: number, character: string) => string) => (text: string) =>
  Array.from(text, (character) => write(character.charCodeAt(0), character)).join('')
const hex = (code: number, digits = 2) => code.toString(16).padStart(digits, '0')

/** Ways in which programs show what they were sent. */
const spellings: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'in capitals': (text) => text.toUpperCase(),
  'in small letters': (text) => text.toLowerCase(),
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex in capitals': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'hex with spaces': (text) => (Buffer.from(text).toString('hex').match(/../g) ?? []).join(' '),
  base64,
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'base64 in lines of 76 characters': (text) => base64(text).replaceAll(/.{76}/g, '$&\r\n'),
  'base64 in lines of a mail': (text) => base64(text).replaceAll(/.{60}/g, '$&=\r\n'),
  'base64 in a URL': (text) => encodeURIComponent(base64(text)),
  'percent-encoded': spell((code) => `%${hex(code)}`),
  'percent-encoded in capitals': spell((code) => `%${hex(code).toUpperCase()}`),
  'percent-encoded in part': spell((code, character) => (code % 3 === 0 ? `%${hex(code)}` : character)),
  'percent-encoded twice': spell((code) => `%25${hex(code)}`),
  'escapes of JSON': spell((code) => `\\u${hex(code, 4)}`),
  'escapes of JSON in JSON': (text) => JSON.stringify(spell((code) => `\\u${hex(code, 4)}`)(text)),
  'escapes of programs': spell((code) => `\\x${hex(code)}`),
  'entities of HTML': spell((code) => `&#${code};`),
  'entities of HTML in hex': spell((code) => `&#x${hex(code)};`),
  'quoted-printable': spell((code) => `=${hex(code).toUpperCase()}`),
  'UTF-16': spell((_, character) => `${character}\0`),
  'in lines': (text) => text.replaceAll(/.{10}/g, '$&\n'),
  'in lines of a text in JSON': (text) => JSON.stringify(text.replaceAll(/.{10}/g, '$&\n')),
}

/** What a text gives away of the key: the longest piece of it that can be decoded from the text. */
function pieceIn(text: string): number {
  const views = [text, decodeURIComponent(text.replaceAll(/%(?![0-9a-f]{2})/gi, '%25'))]
  const plain = views.flatMap((view) =>
    [0, 1, 2, 3].flatMap((at) => [
      view,
      ...(view.match(/[\w+/-]{8,}/g) ?? []).map((word) =>
        Buffer.from(word.slice(at), 'base64').toString('latin1'),
      ),
    ]),
  )
  let longest = 0
  for (const view of plain)
    for (let start = 0; start < key.length; start++)
      while (start + longest < key.length && view.includes(key.slice(start, start + longest + 1))) longest++
  return longest
}

for (const [name, write] of Object.entries(spellings)) {
  t.test(`a secret in a text is hidden at any place: ${name}`, (t) => {
    for (const before of ['', 'k', 'ke', 'key', 'key:', 'Authorization: Basic ', '{"a":["', 'x'.repeat(57)])
      for (const after of ['', ';', '"]}', 'xx', ' tail']) {
        const hidden = hideKnownSecrets(write(before + key + after), knownSecrets)
        t.match(hidden, '[your secret]', JSON.stringify([before, after]))
        t.ok(pieceIn(hidden) < 8, JSON.stringify([before, after, hidden]))
      }
    t.end()
  })
}

t.test('two knownSecrets are hidden, each by its own words, and as often as they appear', (t) => {
  const two = [...knownSecrets, { text: 'gate_ak_other', placeholder: '[your API key]' }]
  t.equal(hideKnownSecrets(`${key} gate_ak_other ${key}`, two), '[your secret] [your API key] [your secret]')
  t.end()
})

t.test('what is no secret stays as it was written', (t) => {
  for (const text of [
    '',
    '100%',
    '%41 \\u0041 &#65; =41',
    '{"a":"\\n"}',
    key.slice(0, 20),
    base64('something else entirely'),
    '&#x110000; &#9999999;',
  ])
    t.equal(hideKnownSecrets(text, knownSecrets), text)
  t.end()
})

t.test('no text of the largest size takes long', (t) => {
  const size = 65_536
  for (const piece of [
    ' ',
    'g',
    'g ',
    `${key.slice(0, -1)} `,
    Array.from(key.slice(0, -1)).join(' '.repeat(20)),
    '%25',
    '\\u0067',
    '&#',
    `${base64(key).slice(0, -4)}\n`,
  ]) {
    const text = piece.repeat(size / piece.length)
    const startedAt = performance.now()
    hideKnownSecrets(text, knownSecrets)
    const tookMs = performance.now() - startedAt
    t.ok(tookMs < 300, `${JSON.stringify(piece.slice(0, 20))}: ${tookMs.toFixed(1)} ms`)
  }
  t.end()
})

t.test('the length of the longest spelling is known', (t) => {
  t.equal(longestSpelling(knownSecrets), 8 * key.length)
  t.equal(longestSpelling([]), 0)
  t.end()
})
