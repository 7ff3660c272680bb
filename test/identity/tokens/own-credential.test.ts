import t from 'tap'
import { showsOwnCredential } from '#identity/tokens/own-credential.ts'
import { createRefreshTokens, createSessionId } from '#identity/tokens/refresh-token.ts'
import { createAccountId, createKey } from '#platform/secrets/keys.ts'
import { createLinkToken } from '#platform/secrets/opaque-tokens.ts'

const issuer = 'https://gateway.test'
const jwt = (claims: object) =>
  ['{"alg":"ES256","typ":"at+jwt"}', JSON.stringify(claims), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

const accountId = createAccountId()
const secretKey = createKey('secretKey', accountId)
const credentials = {
  'secret key': secretKey,
  'secret key with another prefix': createKey('secretKey', accountId, 'acme1'),
  'API key': createKey('apiKey', accountId),
  'key of before': `gsk_${accountId}_${'x'.repeat(43)}_000000`,
  'key that lacks its end': secretKey.slice(0, 40),
  'key with a wrong checksum': `${secretKey.slice(0, -1)}-`,
  'refresh token': createRefreshTokens(() => [Buffer.alloc(32)]).create(createSessionId(), 1),
  'link token': createLinkToken('reset', accountId).token,
  JWT: jwt({ iss: issuer, sub: 'a' }),
}

t.test('every credential of the gateway is seen, in any scheme and within Basic', async (t) => {
  for (const [name, secret] of Object.entries(credentials)) {
    const places = [
      `Bearer ${secret}`,
      `bearer  ${secret}`,
      `token ${secret}`,
      secret,
      `Digest username="${secret}", realm="x"`,
      basic(`user:${secret}`),
      basic(`${secret}:`),
      basic(secret).replace(/=+$/, ''),
      `basic\t${Buffer.from(`u:${secret}`).toString('base64url')}`,
    ]
    for (const place of places) t.equal(showsOwnCredential(place, issuer), true, `${name}: ${place}`)
  }
})

t.test('credentials of others are not taken for ours', async (t) => {
  const others = [
    'Bearer sk-proj-0123456789abcdef0123456789abcdef',
    `Bearer gsk_${'a'.repeat(52)}`,
    `Bearer ghp_${'a'.repeat(36)}`,
    'Bearer sk_live_0123456789abcdefABCDEF',
    'Bearer page_sk_SK',
    `Bearer ${jwt({ iss: 'https://project.supabase.co/auth/v1', sub: 'a' })}`,
    `Bearer ${jwt({ iss: `${issuer}/`, sub: 'a' })}`,
    `Bearer ${jwt({ sub: 'a' })}`,
    'Bearer eyJ.eyJ.eyJ',
    'Bearer eyJhbGciOiJub25lIn0.bnVsbA.',
    basic('ada:lovelace'),
    'Basic',
    'Basic %%%',
    'AWS4-HMAC-SHA256 Credential=AKID/20261123/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0',
    'Negotiate YIIG',
    '',
  ]
  for (const other of others) t.equal(showsOwnCredential(other, issuer), false, other)
})
