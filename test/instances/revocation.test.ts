import t, { type Test } from 'tap'
import type { CreatedAccount } from '#accounts/accounts.ts'
import type { Operator } from '#cli/operator.ts'
import { addKey, importKey } from '../gateway/support/further-keys.ts'
import { until } from '../setup/net.ts'
import { startPromise } from '../setup/promise-of-time.ts'
import { redisCommand } from '../setup/redis.ts'
import { decidedWordOf, startInstances } from './instances.ts'

/** Something that ends a key, a token or both. */
interface Change {
  readonly make: (operator: Operator, made: CreatedAccount) => Promise<unknown>
  /** What a key and a token then lead to. */
  readonly words: readonly [key: string, token: string]
}

const changes: Readonly<Record<string, Change>> = {
  'a reset': {
    make: ({ defaultKeys }, { account }) => defaultKeys.resetSecretKey(account.id, 0),
    words: ['401 secret-key-invalid', '401 token-revoked'],
  },
  'another role': {
    make: ({ accounts }, { account }) => accounts.update(account.id, { role: 'Admin' }),
    words: ['200', '401 token-revoked'],
  },
  'another role, and the same again': {
    make: async ({ accounts }, { account }) => {
      await accounts.update(account.id, { role: 'Admin' })
      await accounts.update(account.id, { role: 'User' })
    },
    words: ['200', '401 token-revoked'],
  },
  disabling: {
    make: ({ accounts }, { account }) => accounts.update(account.id, { isDisabled: true }),
    words: ['403 account-disabled', '401 token-revoked'],
  },
  deletion: {
    make: ({ accounts }, { account }) => accounts.remove(account.id),
    words: ['401 secret-key-invalid', '401 token-revoked'],
  },
  'the end of its sessions': {
    make: ({ store }, { account }) => store.endSessions(account.id),
    words: ['200', '401 token-revoked'],
  },
}

const { redis, gateways } = await startInstances(t)
const [first] = gateways
let created = 0

async function newCaller() {
  created++
  const made = await first.createAccount({ email: `caller${created}@example.com` })
  const { JwtToken } = await first.tokens(made)
  const wordsNow = () =>
    Promise.all(
      gateways.flatMap(({ url }) =>
        [{ SecretKey: made.secretKey }, { Authorization: `Bearer ${JwtToken}` }].map((headers) =>
          decidedWordOf(`${url}/any`, headers),
        ),
      ),
    )
  return { made, wordsNow }
}

async function assertKnownEverywhere(t: Test, { make, words }: Change): Promise<void> {
  const [one, bystander] = [await newCaller(), await newCaller()]
  t.strictSame(await one.wordsNow(), ['200', '200', '200', '200'])
  t.strictSame(await bystander.wordsNow(), ['200', '200', '200', '200'])
  await first.operate((operator) => make(operator, one.made))
  const assertInTime = startPromise(t)
  await until('every instance knows', async () => {
    const now = await one.wordsNow()
    return JSON.stringify(now) === JSON.stringify([...words, ...words]) || undefined
  })
  assertInTime()
  t.strictSame(await one.wordsNow(), [...words, ...words], 'and it stays so')
  t.strictSame(await bystander.wordsNow(), ['200', '200', '200', '200'])
}

for (const [name, change] of Object.entries(changes)) {
  t.test(`${name} takes effect on every instance at once`, async (t) => {
    await assertKnownEverywhere(t, change)
  })
}

t.test('revocations reach every instance even if all messages are lost', async (t) => {
  const cutting = setInterval(() => void redisCommand(redis.port, 'CLIENT KILL TYPE pubsub'), 5)
  t.teardown(() => clearInterval(cutting))
  for (const change of Object.values(changes)) await assertKnownEverywhere(t, change)
})

/** Keys of one account in turn: each is revoked alone, whichever way it came to be. */
async function assertKeysEndAlone(t: Test): Promise<void> {
  const { made } = await newCaller()
  const { id } = made.account
  const further = await addKey(first, id, { name: 'further' })
  const [imported, second] = [`${id}-made-elsewhere`, `${id}-another`]
  await importKey(first, id, imported, { name: 'imported' })
  await importKey(first, id, second, { name: 'second' })
  const wordsOf = (secretKey: string) =>
    Promise.all(gateways.map(({ url }) => decidedWordOf(`${url}/any`, { SecretKey: secretKey })))
  const expected = new Map([further, imported, second, made.secretKey].map((key) => [key, '200']))
  const assertAll = async () => {
    for (const [key, word] of expected) t.strictSame(await wordsOf(key), [word, word])
  }
  await assertAll()
  for (const [name, key] of Object.entries({ imported, further, second })) {
    await first.operate(({ secretKeys }) => secretKeys.revoke(id, name, 0))
    const assertInTime = startPromise(t)
    const refused = '401 secret-key-invalid'
    await until(
      `no instance takes the ${name} key`,
      async () => (await wordsOf(key)).every((word) => word === refused) || undefined,
    )
    assertInTime(name)
    expected.set(key, refused)
    await assertAll()
  }
}

t.test('a further or an imported key that is revoked ends alone, on every instance at once', async (t) => {
  await assertKeysEndAlone(t)
  const cutting = setInterval(() => void redisCommand(redis.port, 'CLIENT KILL TYPE pubsub'), 5)
  t.teardown(() => clearInterval(cutting))
  await assertKeysEndAlone(t)
})

t.test('the revocation delay is measured where the change arrives', async (t) => {
  for (const { opsUrl } of gateways) {
    const metrics = await (await fetch(`${opsUrl}/metrics`)).text()
    const count = /^gatehouse_revocation_delay_seconds_count (\d+)$/m.exec(metrics)?.[1]
    t.ok(Number(count) >= Object.keys(changes).length, `${count} changes`)
  }
})

t.test('tokens of a retired signing key are refused on every instance', async (t) => {
  const { wordsNow } = await newCaller()
  t.strictSame(await wordsNow(), ['200', '200', '200', '200'])
  await first.operate(async ({ signingKeys }) => {
    const [old] = await signingKeys.load()
    await signingKeys.rotate('now')
    await signingKeys.retire(old?.kid ?? '')
  })
  await until('every instance knows', async () => {
    const words = await wordsNow()
    return (words[1] === words[3] && words[1] === '401 token-invalid') || undefined
  })
})
