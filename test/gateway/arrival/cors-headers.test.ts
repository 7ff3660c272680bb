import t from 'tap'
import { createCorsHeaders, withCorsHeaders, withoutCorsHeaders } from '#gateway/arrival/cors.ts'

const page = createCorsHeaders('https://app.example')
const nobody = createCorsHeaders(undefined)
const exposed =
  'X-Request-Id, Retry-After, WWW-Authenticate, DPoP-Nonce, RateLimit, RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset'
const ours = [
  'Access-Control-Allow-Origin',
  'https://app.example',
  'Access-Control-Allow-Credentials',
  'true',
  'Access-Control-Expose-Headers',
  exposed,
]

t.test('CORS headers of the upstream are replaced, in every spelling', async (t) => {
  const said = [
    'ACCESS-CONTROL-ALLOW-ORIGIN',
    '*',
    'access-control-allow-credentials',
    'false',
    'A',
    '1',
    'Access-Control-Allow-Methods',
    'PUT',
    'Access-Control-Max-Age',
    '86400',
    'Access-Control-Allow-Private-Network',
    'true',
  ]
  t.strictSame(withCorsHeaders(said, page), ['A', '1', ...ours, 'Vary', 'Origin'])
  t.strictSame(withCorsHeaders(said, nobody), ['A', '1', 'Vary', 'Origin'])
})

t.test('header names that the upstream exposes are kept, each once', async (t) => {
  const said = [
    'Access-Control-Expose-Headers',
    'ETag, x-request-id,, *',
    'Access-Control-Expose-Headers',
    'etag, Link',
  ]
  t.equal(withCorsHeaders(said, page)[5], `${exposed}, ETag, *, Link`)
  t.strictSame(withCorsHeaders(said, nobody), ['Vary', 'Origin'])
})

t.test('Vary names Origin once', async (t) => {
  for (const value of ['Origin', 'origin', '*', 'Accept,Origin', 'Accept , ORIGIN , X']) {
    t.strictSame(withCorsHeaders(['Vary', value], nobody), ['Vary', value], value)
  }
  for (const value of ['Accept', 'X-Origin', 'Original', '']) {
    t.strictSame(withCorsHeaders(['Vary', value], nobody), ['Vary', value, 'Vary', 'Origin'], value)
  }
})

t.test('an interim answer says nothing of CORS', async (t) => {
  const said = ['Link', '</a>', 'access-control-allow-origin', '*', 'X', 'Access-Control-Allow-Origin']
  t.strictSame(withoutCorsHeaders(said), ['Link', '</a>', 'X', 'Access-Control-Allow-Origin'])
})
