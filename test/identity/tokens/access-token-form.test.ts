import t from 'tap'
import { createBench, encode, forge, newSigningKey, rightHeader, subject } from './forged-tokens.ts'

const key = newSigningKey('key')
const { issue, verify } = createBench([key])
const invalid = { kind: 'invalid' }

t.test('an access token has exactly one spelling', async (t) => {
  const token = issue(subject)
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
  const spellings = [
    ...letters.map((letter) => token.slice(0, -1) + letter),
    ...['=', '==', '.', ' ', '\n', '!', 'A', '%'].map((end) => token + end),
    ...[' ', '\n', '.', 'A', '='].map((start) => start + token),
    token.replace('.', '=.'),
    `${token.slice(0, -9)} ${token.slice(-9)}`,
    `${token.slice(0, -9)}!${token.slice(-9)}`,
  ].filter((spelling) => spelling !== token)
  const accepted = spellings.filter((spelling) => verify(spelling).kind === 'valid')
  t.strictSame(
    accepted.map((spelling) => spelling.slice(-4)),
    [],
  )
})

t.test('malformed access tokens are refused cheaply', async (t) => {
  const [header, payload, signature] = issue(subject).split('.')
  const texts = [
    '',
    '.',
    '..',
    '...',
    'a.b.c',
    'null',
    header ?? '',
    `${header}.`,
    `.${payload}.${signature}`,
    `${header}.${payload}.${signature}.${signature}`,
    `${payload}.${header}.${signature}`,
    'e30.e30.e30',
    'bnVsbA.bnVsbA.AA',
    `${encode('[]')}.e30.AA`,
    `${encode('{"typ":"at+jwt","kid":"key"')}.e30.AA`,
    '\0'.repeat(100),
    '🔑.🔑.🔑',
    '__proto__',
    'gsk_x',
  ]
  for (const text of texts) t.match(verify(text), invalid, JSON.stringify(text.slice(0, 40)))
  const startedAt = performance.now()
  for (const letter of ['A', '.', '{', '"']) t.match(verify(letter.repeat(2_000_000)), invalid)
  t.match(verify(`${encode(rightHeader(key))}.${'A'.repeat(4_000_000)}.${signature}`), invalid)
  const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  t.match(verify(`${encode(nested)}.${encode(nested)}.AA`), invalid)
  t.match(verify(forge(rightHeader(key), nested, key.material)), invalid)
  t.ok(performance.now() - startedAt < 5_000)
})
