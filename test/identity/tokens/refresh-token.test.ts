import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createRefreshTokens, createSessionId } from '#identity/tokens/refresh-token.ts'

const sealingKey = randomBytes(32)
const refreshTokens = createRefreshTokens(sealingKey)

t.test('a refresh token encodes session, number and MAC, and parses back', async (t) => {
  for (const generation of [1, 2, 10, 999_999_999]) {
    const sessionId = createSessionId()
    t.match(sessionId, /^[0-9A-Za-z]{20}$/)
    const token = refreshTokens.create(sessionId, generation)
    t.match(token, new RegExp(`^grt_${sessionId}_${generation}_[0-9A-Za-z_-]{43}$`))
    t.strictSame(refreshTokens.parse(token), { sessionId, generation })
  }
})

t.test('the same session and number give the same refresh token in every process', async (t) => {
  const sessionId = createSessionId()
  const tokens = [refreshTokens, createRefreshTokens(sealingKey)].map((each) => each.create(sessionId, 7))
  t.equal(tokens[0], tokens[1])
  const others = [refreshTokens.create(sessionId, 8), refreshTokens.create(createSessionId(), 7)]
  const macs = [tokens[0], ...others].map((token) => token?.slice(-43))
  t.equal(new Set(macs).size, 3)
})

t.test('a refresh token with any one character changed is refused', async (t) => {
  const alphabet = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-=+/ ']
  const token = refreshTokens.create(createSessionId(), 12)
  const accepted = [...token].flatMap((letter, index) =>
    alphabet
      .filter((other) => other !== letter)
      .map((other) => token.slice(0, index) + other + token.slice(index + 1))
      .filter((changed) => refreshTokens.parse(changed)),
  )
  t.strictSame(accepted, [])
})

t.test('a refresh token of another sealing key is refused', async (t) => {
  const stranger = createRefreshTokens(randomBytes(32))
  t.equal(refreshTokens.parse(stranger.create(createSessionId(), 1)), undefined)
})

t.test('parts of two refresh tokens cannot be combined', async (t) => {
  const [a, b] = [createSessionId(), createSessionId()]
  const macOf = (sessionId: string, generation: number) =>
    refreshTokens.create(sessionId, generation).slice(-43)
  t.equal(refreshTokens.parse(`grt_${a}_1_${macOf(b, 1)}`), undefined)
  t.equal(refreshTokens.parse(`grt_${a}_2_${macOf(a, 1)}`), undefined)
  t.equal(refreshTokens.parse(`grt_${a}_12_${macOf(a, 1)}`), undefined)
  t.strictSame(refreshTokens.parse(`grt_${a}_1_${macOf(a, 1)}`), { sessionId: a, generation: 1 })
})

t.test('the number in a refresh token has exactly one spelling', async (t) => {
  const sessionId = createSessionId()
  const mac = refreshTokens.create(sessionId, 1).slice(-43)
  for (const number of ['01', '+1', '1.0', '1e0', '0x1', ' 1', '1 ', '', '0', '-1', '١']) {
    t.equal(refreshTokens.parse(`grt_${sessionId}_${number}_${mac}`), undefined, number)
  }
  // Not even where the MAC is right.
  for (const generation of [0, -1, 1.5, 1e21, Number.NaN]) {
    t.equal(refreshTokens.parse(refreshTokens.create(sessionId, generation)), undefined, String(generation))
  }
})

t.test('a malformed refresh token is refused', async (t) => {
  const token = refreshTokens.create(createSessionId(), 1)
  for (const text of [
    '',
    'grt_',
    `${token}\n`,
    ` ${token}`,
    `${token}=`,
    token.slice(0, -1),
    `${token}${token}`,
    token.toUpperCase(),
    'x'.repeat(5_000_000),
    'grt_'.repeat(1_000_000),
    '__proto__',
  ]) {
    t.equal(refreshTokens.parse(text), undefined, JSON.stringify(text.slice(0, 100)))
  }
})
