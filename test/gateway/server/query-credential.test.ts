import t from 'tap'
import { queryAdvice } from '#gateway/refusals/credential-refusal.ts'

const kindOf = (target: string) => {
  const advice = queryAdvice(target)
  if (advice === undefined) return undefined
  return advice.startsWith('A credential') ? 'credential' : 'signature'
}

t.test('keys and tokens in the query are recognised by their names, or by what they look like', async (t) => {
  for (const name of [
    'api_key',
    'apikey',
    'API-Key',
    'x-api-key',
    'key',
    'access_token',
    'token',
    'secretKey',
    'jwt',
  ])
    for (const target of [`/a?${name}=x`, `/a?b=c&${name}=x`, `/a?b&${name}=`])
      t.equal(kindOf(target), 'credential', target)
  for (const value of ['gate_sk_XH8KwHZWtlVZ3PDb_x', 'acme_ak_x', 'gsk_x', 'eyJhbGciOiJFUzI1NiJ9.e30.x'])
    for (const name of ['q', '', 'b&c', 'b?c', '?', '?q?'])
      t.equal(kindOf(`/a?${name}=${value}`), 'credential', `${name}=${value}`)
})

t.test('a presigned URL is recognised', async (t) => {
  const queries = [
    'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=A&X-Amz-Signature=0',
    'x-goog-signature=0',
    'sv=2024-11-04&se=2026-01-01&sr=b&sp=r&sig=0',
    'AWSAccessKeyId=A&Expires=1&Signature=0',
    'x-oss-signature=0&key=1',
  ]
  for (const query of queries) t.equal(kindOf(`/bucket/a?${query}`), 'signature', query)
})

t.test('other queries, paths and fragments of names are left alone', async (t) => {
  for (const target of [
    '/a',
    '/key=1',
    '/a?',
    '/a?page=2&sort=key',
    '/a?keys=1',
    '/a?monkey=1',
    '/a?q=token',
    '/a?q=a&nextToken=x',
    '/a?sig',
    '/a?design=1',
  ])
    t.equal(kindOf(target), undefined, target)
})
