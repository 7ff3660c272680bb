import { createHmac } from 'node:crypto'
import t, { type Test } from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { newProofClient, proofClaims } from '../gateway/support/proofs.ts'
import { newIssuerKey, startIssuer } from '../identity/issuers/issuer-server.ts'
import { startBoth } from '../setup/both.ts'

type Members = Readonly<Record<string, unknown>>

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A gateway, a client whose key a token of a foreign issuer is bound to, and what both make of a request. */
async function start(t: Test, config: Members = {}, clock?: () => number) {
  const issuer = await startIssuer(t, [await newIssuerKey('one')])
  const route = { upstream: 'backend', issuers: ['corp'] }
  const { backend, gateway } = await startBoth(t, {
    ...(clock && { clock }),
    config: {
      issuers: [{ name: 'corp', issuer: issuer.url, audience: 'orders', algorithms: ['ES256'] }],
      routes: [
        { ...route, name: 'bound', path: '/bound', auth: 'bearer' },
        { ...route, name: 'optional', path: '/optional', auth: 'optional' },
        { ...route, name: 'scoped', path: '/scoped', auth: 'bearer', roles: ['Admin'] },
        { ...route, name: 'credentials', path: '/passed', auth: 'bearer', forwardCredentials: true },
      ],
      ...config,
    },
  })
  const client = await newProofClient()
  const token = await issuer.sign({ cnf: { jkt: client.jkt } })
  const url = 'http://gateway.test/bound'
  const prove = (changes?: Parameters<typeof client.prove>[1]) => client.prove({ url, token }, changes)
  const answerTo = (headers: readonly string[], path = '/bound') =>
    ask(t, gateway.url, `GET ${path}`, headers)
  const send = async (proof: string, path = '/bound', credential = token) => {
    const answer = await answerTo([`Authorization: DPoP ${credential}`, `DPoP: ${proof}`], path)
    return answer.status === 200 ? '200' : `${answer.status} ${answer.json().code}`
  }
  return { issuer, backend, gateway, client, token, url, prove, send, answerTo }
}

t.test('a right proof passes, and neither it nor the token reaches the backend', async (t) => {
  const { backend, send, prove, answerTo, token } = await start(t)
  t.equal(await send(await prove()), '200')
  const { headers } = backend.last()
  t.equal(headers['x-user-id'], 'corp:ada')
  t.equal(headers.authorization, undefined)
  t.equal(headers.dpop, undefined)
  const other = await prove({ claims: { htu: 'http://gateway.test/passed' } })
  await answerTo([`Authorization: DPoP ${token}`, `DPoP: ${other}`], '/passed')
  t.equal(backend.last().headers.dpop, other, 'forwardCredentials')
})

t.test('every proof that is wrong in one thing is refused', async (t) => {
  const { backend, client, token, url, prove, send } = await start(t)
  const now = Math.floor(Date.now() / 1_000)
  const claims = () => proofClaims({ url, token })
  const hmac = (header: Members, secret: string) => {
    const text = `${encode({ typ: 'dpop+jwt', jwk: client.jwk, ...header })}.${encode(claims())}`
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
  }
  const another = await newProofClient()
  const rsa = await newProofClient('RS256')
  const right = await prove()
  const [head = '', , signature = ''] = right.split('.')
  const twice = `{"jti":"a","jti":"b",${JSON.stringify(claims()).slice(1)}`
  const forged: Readonly<Record<string, string | Promise<string>>> = {
    'no proof': '',
    'no JWT': 'eyJ.eyJ',
    'wrong htm': prove({ claims: { htm: 'POST' } }),
    'htm in another case': prove({ claims: { htm: 'get' } }),
    'wrong path in htu': prove({ claims: { htu: 'http://gateway.test/optional' } }),
    'wrong host in htu': prove({ claims: { htu: 'http://other.test/bound' } }),
    'wrong scheme in htu': prove({ claims: { htu: 'https://gateway.test/bound' } }),
    'wrong port in htu': prove({ claims: { htu: 'http://gateway.test:81/bound' } }),
    'a user in htu': prove({ claims: { htu: 'http://a@gateway.test/bound' } }),
    'no URL as htu': prove({ claims: { htu: '/bound' } }),
    'no htu': prove({ claims: { htu: undefined } }),
    'no htm': prove({ claims: { htm: undefined } }),
    'no jti': prove({ claims: { jti: undefined } }),
    'an empty jti': prove({ claims: { jti: '' } }),
    'a jti of another type': prove({ claims: { jti: 1 } }),
    'a jti too long': prove({ claims: { jti: 'x'.repeat(1_025) } }),
    'no iat': prove({ claims: { iat: undefined } }),
    'iat as text': prove({ claims: { iat: String(now) as unknown as number } }),
    'a stale iat': prove({ claims: { iat: now - 67 } }),
    'an iat to come': prove({ claims: { iat: now + 30 } }),
    'no ath': prove({ claims: { ath: undefined } }),
    'ath of another token': prove({ claims: { ath: 'A'.repeat(43) } }),
    'another key': another.prove({ url, token }),
    'another key that claims to be it': another.prove({ url, token }, { header: { jwk: client.jwk } }),
    'an RSA key': rsa.prove({ url, token }),
    'the private key in jwk': prove({ header: { jwk: client.privateJwk } }),
    'no jwk': prove({ header: { jwk: undefined } }),
    'no typ': prove({ header: { typ: undefined } }),
    'typ of a token': prove({ header: { typ: 'at+jwt' } }),
    'typ JWT': prove({ header: { typ: 'JWT' } }),
    'alg none': `${encode({ typ: 'dpop+jwt', alg: 'none', jwk: client.jwk })}.${encode(claims())}.`,
    'alg none with a signature': `${encode({ typ: 'dpop+jwt', alg: 'none', jwk: client.jwk })}.${encode(claims())}.${signature}`,
    'HS256 with the public key': hmac({ alg: 'HS256' }, JSON.stringify(client.jwk)),
    'HS256 with a key of its own': hmac({ alg: 'HS256', jwk: { kty: 'oct', k: 'c2VjcmV0' } }, 'secret'),
    'HS256 with the key as oct': hmac({ alg: 'HS256', jwk: { ...client.jwk, k: 'c2VjcmV0' } }, 'secret'),
    'another alg than the key has': prove({ header: { jwk: { ...client.jwk, alg: 'ES384' } } }),
    'other claims under its signature': `${head}.${encode(claims())}.${signature}`,
    'a member twice': `${head}.${Buffer.from(twice).toString('base64url')}.${signature}`,
    'no signature': right.slice(0, right.lastIndexOf('.') + 1),
    'the token itself': token,
    'two in one': `${right}, ${right}`,
    crit: prove({ header: { crit: ['b64'], b64: true } }),
  }
  const before = backend.seen.length
  for (const [name, proof] of Object.entries(forged))
    t.equal(await send(await proof), '401 proof-invalid', name)
  t.equal(backend.seen.length, before, 'nothing was forwarded')
  t.equal(await send(right), '200', 'what was tried did not use it up')
})

t.test('a proof counts once, and one of two lines not at all', async (t) => {
  const { token, prove, send, answerTo, gateway } = await start(t)
  const proof = await prove()
  t.strictSame(await Promise.all([send(proof), send(proof), send(proof)]).then((all) => all.toSorted()), [
    '200',
    '401 proof-invalid',
    '401 proof-invalid',
  ])
  t.ok(
    gateway.logLines.some((line) => line.includes('it was used before')),
    'the log says why',
  )
  const [one, two] = [await prove(), await prove()]
  const both = await answerTo([`Authorization: DPoP ${token}`, `DPoP: ${one}`, `DPoP: ${two}`])
  t.match([both.status, both.json().code], [401, 'proof-invalid'])
  t.equal(await send(one), '200')
})

t.test('a bound token without its proof, and a proof beside another credential, are refused', async (t) => {
  const { issuer, gateway, backend, token, prove, answerTo } = await start(t)
  const account = await gateway.createAccount()
  const { JwtToken } = await gateway.tokens(account)
  const unbound = await issuer.sign()
  const codeOf = async (headers: readonly string[], path?: string) => {
    const answer = await answerTo(headers, path)
    return answer.status === 200 ? '200' : `${answer.status} ${answer.json().code}`
  }
  const proof = async () => `DPoP: ${await prove()}`
  for (const path of ['/bound', '/optional']) {
    t.equal(await codeOf([`Authorization: Bearer ${token}`], path), '401 proof-missing')
    t.equal(await codeOf([`Authorization: Bearer ${token}`, await proof()], path), '401 proof-missing')
    t.equal(await codeOf([`Authorization: DPoP ${token}`], path), '401 proof-invalid')
    t.equal(await codeOf([`Authorization: DPoP ${unbound}`, await proof()], path), '401 token-invalid')
    t.equal(await codeOf([`Authorization: DPoP ${JwtToken}`, await proof()], path), '401 token-invalid')
    t.equal(await codeOf(['Authorization: DPoP', await proof()], path), '401 token-invalid')
    const key = [`SecretKey: ${account.secretKey}`, `Authorization: DPoP ${token}`, await proof()]
    t.equal(await codeOf(key, path), '400 credentials-ambiguous')
    const twice = [`Authorization: DPoP ${token}`, `Authorization: Bearer ${unbound}`, await proof()]
    t.equal(await codeOf(twice, path), '400 credentials-ambiguous')
  }
  t.equal(backend.seen.length, 0)
  // First as a bearer token that is remembered.
  for (const round of ['first', 'again'])
    t.equal(await codeOf([`Authorization: Bearer ${unbound}`]), '200', round)
  t.equal(await codeOf([`Authorization: DPoP ${unbound}`, await proof()]), '401 token-invalid')
  t.equal(await codeOf([`Authorization: DPoP ${token}`, await proof()], '/scoped'), '401 proof-invalid')
})

t.test('a refusal says how a proof is to be made', async (t) => {
  const { issuer, token, prove, answerTo } = await start(t)
  const challengeOf = async (headers: readonly string[]) =>
    (await answerTo(headers)).headers['www-authenticate'] ?? ''
  const algs = 'algs="ES256 ES384 EdDSA Ed25519 RS256 PS256"'
  const unproven = await challengeOf([`Authorization: DPoP ${token}`])
  t.match(unproven, /^DPoP realm="gatehouse", error="invalid_dpop_proof", /)
  t.match(unproven, algs)
  const asBearer = await challengeOf([`Authorization: Bearer ${token}`])
  t.match(asBearer, /^DPoP realm="gatehouse", error="invalid_token", /)
  const expired = await issuer.sign({ exp: 1, cnf: { jkt: 'A'.repeat(43) } })
  const late = await challengeOf([`Authorization: DPoP ${expired}`, `DPoP: ${await prove()}`])
  t.match(late, /^DPoP realm="gatehouse", error="invalid_token", .*expired/)
  t.match(await challengeOf([]), /^Bearer realm="gatehouse"/, 'a client without any')
})

t.test('a token that is bound in another way is refused', async (t) => {
  const { issuer, prove, send } = await start(t)
  for (const cnf of [{ kid: 'a' }, { jkt: 'short' }, { jkt: 1 }, {}, 'jkt', null, ['jkt']])
    t.equal(
      await send(await prove(), '/bound', await issuer.sign({ cnf })),
      '401 token-invalid',
      JSON.stringify(cnf),
    )
})

t.test('with a nonce, a proof has to have it', async (t) => {
  let now = Date.now()
  const { token, prove, send, answerTo } = await start(
    t,
    { dpop: { nonce: true, proofLifetime: '60s' } },
    () => now,
  )
  const asked = await answerTo([`Authorization: DPoP ${token}`, `DPoP: ${await prove()}`])
  t.match([asked.status, asked.json().code], [401, 'proof-nonce-required'])
  t.match(asked.headers['www-authenticate'], /^DPoP .*error="use_dpop_nonce"/)
  const nonce = asked.headers['dpop-nonce']
  t.equal(await send(await prove({ claims: { nonce } })), '200')
  t.equal(await send(await prove({ claims: { nonce: `${nonce}x` } })), '401 proof-nonce-required')
  t.equal(await send(await prove({ claims: { nonce: 1 } })), '401 proof-nonce-required')
  now += 125_000
  const iat = Math.floor(now / 1_000)
  t.equal(await send(await prove({ claims: { nonce, iat } })), '401 proof-nonce-required', 'too old')
})

t.test('the URL of a proof is compared as RFC 9449 says', async (t) => {
  const { prove, send, answerTo, token } = await start(t, {
    publicUrl: 'https://gateway.test',
    trustedProxies: ['127.0.0.1'],
  })
  const rightUrls = [
    'http://gateway.test/bound',
    'http://gateway.test:80/bound',
    'http://GATEWAY.test/bound',
    'http://gateway.test/b%6Fund',
    'http://gateway.test/bound?of=another#part',
    'https://gateway.test/bound',
  ]
  for (const htu of rightUrls) t.equal(await send(await prove({ claims: { htu } })), '200', htu)
  const forwarded = ['X-Forwarded-Proto: https', 'X-Forwarded-Host: api.test']
  const behind = async (htu: string) => {
    const proof = await prove({ claims: { htu } })
    return (await answerTo([`Authorization: DPoP ${token}`, `DPoP: ${proof}`, ...forwarded])).status
  }
  t.equal(await behind('https://api.test/bound'), 200)
  t.equal(await behind('http://gateway.test/bound'), 401)
  t.equal(await behind('https://gateway.test/bound'), 401, 'publicUrl has another host')
})
