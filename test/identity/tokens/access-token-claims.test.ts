import t from 'tap'
import {
  createBench,
  forge,
  type Json,
  lifetimeS,
  newSigningKey,
  rightClaims,
  rightHeader,
  startS,
  subject,
} from './forged-tokens.ts'

const key = newSigningKey('key')
const invalid = { kind: 'invalid' }
const expired = { kind: 'expired' }

const isTime = (claim: string) => claim === 'iat' || claim === 'exp'

function sign(changes: Json | string): string {
  const payload = typeof changes === 'string' ? changes : { ...rightClaims, ...changes }
  return forge(rightHeader(key), payload, key.material)
}

t.test('a token must have all claims, each of its type', async (t) => {
  const { verify } = createBench([key])
  for (const claim of Object.keys(rightClaims)) {
    t.match(verify(sign({ [claim]: undefined })), invalid, `without ${claim}`)
    for (const value of [null, {}, true, [], [[rightClaims[claim]]], isTime(claim) ? `${startS}` : startS]) {
      t.match(verify(sign({ [claim]: value })), invalid, `${claim}: ${JSON.stringify(value)}`)
    }
  }
})

t.test('a token must be of this issuer and audience', async (t) => {
  const { verify } = createBench([key])
  for (const iss of [
    'https://other.example.com',
    'https://api.example.com/',
    'HTTPS://api.example.com',
    '',
  ]) {
    t.match(verify(sign({ iss })), invalid, iss)
  }
  for (const aud of [
    'other',
    'gatehouse2',
    'Gatehouse',
    '',
    [],
    ['other'],
    [['gatehouse']],
    { 0: 'gatehouse' },
  ]) {
    t.match(verify(sign({ aud })), invalid, JSON.stringify(aud))
  }
  t.equal(verify(sign({ aud: ['other', 'gatehouse'] })).kind, 'valid', 'among others (RFC 7519 4.1.3)')
})

t.test('a token whose payload is not an object is refused', async (t) => {
  const { verify } = createBench([key])
  for (const payload of [
    '',
    'null',
    '[]',
    '1',
    '"text"',
    '{',
    '{}',
    '{"__proto__":{}}',
    `[${JSON.stringify(rightClaims)}]`,
  ]) {
    t.match(verify(sign(payload)), invalid, payload)
  }
})

t.test('of a claim that comes twice the last counts (RFC 7519 4)', async (t) => {
  const { verify } = createBench([key])
  const text = JSON.stringify(rightClaims)
  const twice = text.replace('"role":"User"', '"role":"Admin","role":"User"')
  t.not(twice, text)
  t.match(verify(sign(twice)), { kind: 'valid', claims: { role: 'User' } })
  t.match(verify(sign(text.replace('"iss":', '"iss":"https://api.example.com","iss":"x","_":'))), invalid)
})

t.test('a token expires exactly at exp plus the tolerance', async (t) => {
  for (const clockToleranceMs of [0, 5_000]) {
    const { verify, time } = createBench([key], { clockToleranceMs })
    const token = sign({})
    const end = (startS + lifetimeS) * 1_000 + clockToleranceMs
    for (const [nowMs, kind] of [
      [startS * 1_000, 'valid'],
      [end - 1, 'valid'],
      [end, 'expired'],
      [end + 86_400_000, 'expired'],
    ] as const) {
      time.nowMs = nowMs
      t.equal(verify(token).kind, kind, `${nowMs - end} ms after its end`)
      // The first look may have been remembered: it must say the same.
      t.equal(verify(token).kind, kind)
    }
  }
})

t.test('a token issued in the future is refused beyond the tolerance', async (t) => {
  for (const clockToleranceMs of [0, 5_000]) {
    const { verify, time } = createBench([key], { clockToleranceMs })
    const token = sign({})
    time.nowMs = startS * 1_000 - clockToleranceMs
    t.equal(verify(token).kind, 'valid')
    time.nowMs--
    t.match(verify(token), invalid)
  }
})

t.test('a token is valid from issue to expiry, however short', async (t) => {
  const { issue, verify, time } = createBench([key], { accessLifetimeMs: 1_000, clockToleranceMs: 0 })
  time.nowMs = startS * 1_000
  const token = issue(subject)
  t.equal(verify(token).kind, 'valid')
  time.nowMs += 999
  t.equal(verify(token).kind, 'valid')
  time.nowMs++
  t.strictSame(verify(token), expired)
})

t.test('a token before its nbf is refused', async (t) => {
  const { verify } = createBench([key])
  const taken = [startS + 3_600, 1e20, 1e300, 'tomorrow'].filter(
    (nbf) => verify(sign({ nbf })).kind === 'valid',
  )
  t.strictSame(taken, [])
  t.equal(verify(sign({ nbf: startS - 1 })).kind, 'valid')
})

t.test('a token whose times are not numbers is refused', async (t) => {
  const { verify } = createBench([key])
  for (const time of ['1e400', '-1', '-1e400', 'null', 'true', '"1e9"', '[1]']) {
    for (const claim of ['iat', 'exp']) {
      const text = JSON.stringify({ ...rightClaims, [claim]: 'TIME' }).replace('"TIME"', time)
      t.equal(verify(sign(text)).kind, 'invalid', `${claim} ${time}`)
    }
  }
  t.strictSame(verify(sign({ exp: 0 })), expired)
  t.equal(verify(sign({ iat: startS - 0.5, exp: startS + 0.5 })).kind, 'valid', 'fractions are (RFC 7519 2)')
})
