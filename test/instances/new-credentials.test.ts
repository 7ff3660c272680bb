import t from 'tap'
import { createKey } from '#platform/secrets/keys.ts'
import { decodePart, forge, rightHeader } from '../identity/tokens/forged-tokens.ts'
import { until } from '../setup/net.ts'
import { redisCommand } from '../setup/redis.ts'
import { decidedWordOf, startInstances } from './instances.ts'

/** Changes under which an instance that has not heard of them could refuse what has just become right. */
const rounds = 8

const route = { upstream: 'backend', auth: 'any' }
const { redis, gateways } = await startInstances(t, {
  config: {
    routes: [
      { ...route, name: 'any', path: '/any' },
      { ...route, name: 'admin', path: '/admin', roles: ['Admin'] },
      { ...route, name: 'verified', path: '/verified', verifiedOnly: true },
    ],
    limits: { failures: { limit: 1, per: '1h' } },
  },
})
const [first] = gateways
const cutting = setInterval(() => void redisCommand(redis.port, 'CLIENT KILL TYPE pubsub'), 2)
t.teardown(() => clearInterval(cutting))
let created = 0

async function newCaller(input: { readonly isVerified?: boolean } = {}) {
  created++
  const made = await first.createAccount({ email: `caller${created}@example.com`, ...input })
  return { ...made, token: (await first.tokens(made)).JwtToken, id: made.account.id }
}

/** What a credential leads to at each instance, the first time it is shown there. */
function wordsOf(path: string, credential: { readonly key: string } | { readonly token: string }) {
  const headers: Record<string, string> =
    'key' in credential ? { SecretKey: credential.key } : { Authorization: `Bearer ${credential.token}` }
  return Promise.all(gateways.map(({ url }) => decidedWordOf(`${url}${path}`, headers)))
}

async function tokenOf({ secretKey, apiKey }: { readonly secretKey: string; readonly apiKey: string }) {
  const response = await first.post('/api/v1/accounts/access-token', {
    SecretKey: secretKey,
    APIKey: apiKey,
  })
  return ((await response.json()) as { readonly JwtToken: string }).JwtToken
}

const passed = ['200', '200']

async function untilWord(word: string, ask: () => Promise<readonly string[]>): Promise<void> {
  await until(word, async () => (await ask()).every((one) => one === word) || undefined)
}

t.test('a new key is valid on every instance at once, even without messages', (t) =>
  first.operate(async ({ defaultKeys }) => {
    for (let round = 0; round < rounds; round++) {
      const { id, secretKey } = await newCaller()
      t.strictSame(await wordsOf('/any', { key: secretKey }), passed)
      const key = await defaultKeys.resetSecretKey(id, 0)
      t.strictSame(await wordsOf('/any', { key }), passed)
    }
  }),
)

t.test("a re-enabled account's key is valid on every instance at once", (t) =>
  first.operate(async ({ accounts }) => {
    for (let round = 0; round < rounds; round++) {
      const { id, secretKey } = await newCaller()
      await accounts.update(id, { isDisabled: true })
      await untilWord('403 account-disabled', () => wordsOf('/any', { key: secretKey }))
      await accounts.update(id, { isDisabled: false })
      t.strictSame(await wordsOf('/any', { key: secretKey }), passed)
    }
  }),
)

t.test("a re-enabled account's new token is valid on every instance at once", (t) =>
  first.operate(async ({ accounts }) => {
    for (let round = 0; round < rounds; round++) {
      const caller = await newCaller()
      await accounts.update(caller.id, { isDisabled: true })
      await untilWord('403 account-disabled', () => wordsOf('/any', { key: caller.secretKey }))
      await accounts.update(caller.id, { isDisabled: false })
      t.strictSame(await wordsOf('/any', { token: await tokenOf(caller) }), passed)
    }
  }),
)

t.test('a new role is effective on every instance at once', (t) =>
  first.operate(async ({ accounts }) => {
    for (let round = 0; round < rounds; round++) {
      const caller = await newCaller()
      const forbidden = ['403 role-forbidden', '403 role-forbidden']
      t.strictSame(await wordsOf('/admin', { key: caller.secretKey }), forbidden)
      await accounts.update(caller.id, { role: 'Admin' })
      if (round % 2 === 0) t.strictSame(await wordsOf('/admin', { token: await tokenOf(caller) }), passed)
      t.strictSame(await wordsOf('/admin', { key: caller.secretKey }), passed)
    }
  }),
)

t.test('a new verification is effective on every instance at once', (t) =>
  first.operate(async ({ accounts }) => {
    for (let round = 0; round < rounds; round++) {
      const { id, secretKey, token } = await newCaller({ isVerified: false })
      const unverified = ['403 account-unverified', '403 account-unverified']
      t.strictSame(await wordsOf('/verified', { key: secretKey }), unverified)
      t.strictSame(await wordsOf('/verified', { token }), unverified)
      await accounts.update(id, { isVerified: true })
      const credential = round % 2 === 0 ? { token } : { key: secretKey }
      t.strictSame(await wordsOf('/verified', credential), passed)
    }
  }),
)

t.test('a token of a new signing key is valid on every instance at once', async (t) => {
  const { token } = await newCaller()
  t.strictSame(await wordsOf('/any', { token }), passed)
  await first.operate(async ({ signingKeys }) => {
    for (let round = 0; round < rounds; round++) {
      const key = await signingKeys.rotate('now')
      // As an instance that knows of the key already would sign it.
      const newer = forge(rightHeader(key), decodePart(token, 1), key.material)
      t.strictSame(await wordsOf('/any', { token: newer }), passed)
    }
  })
})

t.test('new credentials are not counted as failures, and wrong keys still are', async (t) => {
  const { id, secretKey } = await newCaller()
  t.strictSame(await wordsOf('/any', { key: secretKey }), passed)
  const [{ url }] = gateways
  const wrong = () => decidedWordOf(`${url}/any`, { SecretKey: createKey('secretKey', id) })
  t.equal(await wrong(), '401 secret-key-invalid')
  t.equal(await wrong(), '429 too-many-failures')
  t.strictSame(await wordsOf('/any', { key: secretKey }), passed, 'which refuses nobody else')
})
