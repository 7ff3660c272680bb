import t from 'tap'
import { showsOwnCredential } from '#gateway/gate/route-credentials.ts'
import { passwordOf } from '#identity/carriers.ts'
import { createRefreshTokens, createSessionId } from '#identity/tokens/refresh-tokens.ts'
import { createAccountId, createKey } from '#platform/secrets/keys.ts'
import { createLinkToken } from '#platform/secrets/link-tokens.ts'

const basic = (text: string) => `Basic ${Buffer.from(text, 'latin1').toString('base64')}`

t.test('the password of Basic is all that follows the first colon', async (t) => {
  for (const [text, password] of [
    ['ada:key', 'key'],
    [':key', 'key'],
    ['ada:', ''],
    ['ada:a:b', 'a:b'],
    ['\u00e9\u00e8:k\u00e9y', 'k\u00e9y'],
    ['a:\0', '\0'],
  ] as const)
    t.equal(passwordOf(basic(text)), password, text)
  for (const spelling of ['basic', 'BASIC', 'Basic  ']) {
    t.equal(passwordOf(`${spelling} YTpi`), 'b', spelling)
  }
  t.equal(passwordOf('Basic YTpi '), 'b')
})

t.test('malformed credentials of Basic are an empty password', async (t) => {
  for (const value of [
    'Basic',
    'Basic ',
    'Basic YTpi YTpi',
    'Basic YTpi,YTpi',
    'Basic YWI=',
    'Basic YTo_',
    'Basic YTpiYg',
    'Basic YTpiYg=',
    'Basic YTpiYh==',
    'Basic YTpi====',
    'Basic =',
    'Basic a:b',
    'Basic\tYTpi',
    'Basic Y\u0141pi',
  ])
    t.equal(passwordOf(value), '', value)
})

t.test('the credentials of Basic are read up to 4096 characters', async (t) => {
  const ofLength = (length: number) => basic(`${'a'.repeat((length / 4) * 3 - 2)}:b`)
  t.equal(ofLength(4_096).length, 'Basic '.length + 4_096)
  t.equal(passwordOf(ofLength(4_096)), 'b')
  t.equal(passwordOf(ofLength(4_100)), '')
  t.equal(passwordOf(ofLength(4_000_000)), '')
})

t.test('another scheme is not Basic', async (t) => {
  for (const value of ['', 'Bearer YTpi', 'Basics YTpi', 'Basic-x YTpi', 'XBasic YTpi', ' Basic YTpi'])
    t.equal(passwordOf(value), undefined, value)
})

const issuer = 'https://gateway.test'
const jwt = (claims: object) =>
  ['{"alg":"ES256","typ":"at+jwt"}', JSON.stringify(claims), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')
const basicField = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

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
      basicField(`user:${secret}`),
      basicField(`${secret}:`),
      basicField(secret).replace(/=+$/, ''),
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
    basicField('ada:lovelace'),
    'Basic',
    'Basic %%%',
    'AWS4-HMAC-SHA256 Credential=AKID/20261123/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0',
    'Negotiate YIIG',
    '',
  ]
  for (const other of others) t.equal(showsOwnCredential(other, issuer), false, other)
})
