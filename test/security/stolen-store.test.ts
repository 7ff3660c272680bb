import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Redis } from 'ioredis'
import t from 'tap'
import { openRateLimiter } from '#identity/limits/rate-limiter.ts'
import { createPasswords } from '#platform/secrets/passwords.ts'
import { deriveKey } from '#platform/secrets/sealing.ts'
import { readSealingKeys } from '#platform/secrets/sealing-key.ts'
import { createAccountServices } from '#runtime/assembly/account-services.ts'
import { startGateway, storeDrivers, type TestGateway } from '../setup/gateway.ts'
import { listAudit } from '../store/portal-samples.ts'

const password = 'correct horse battery'
const visitor = { address: '127.0.0.1', userAgent: 'Browser/1' }

/** Everything that is in the store, byte for byte. */
async function dump({ configFile, redis }: TestGateway): Promise<Buffer> {
  if (!redis) {
    const folder = dirname(configFile)
    const files = readdirSync(folder).filter((name) => name.startsWith('gatehouse.db'))
    return Buffer.concat(files.map((name) => readFileSync(join(folder, name))))
  }
  const client = new Redis(redis.url)
  try {
    const parts: Buffer[] = []
    for (const key of await client.keys('*')) parts.push(Buffer.from(key), await readValue(client, key))
    return Buffer.concat(parts)
  } finally {
    client.disconnect()
  }
}

/** Not by DUMP, which compresses: what it hides is not gone. */
async function readValue(client: Redis, key: string): Promise<Buffer> {
  const type = await client.type(key)
  const read: Record<string, () => Promise<unknown>> = {
    string: () => client.get(key),
    hash: () => client.hgetall(key),
    zset: () => client.zrange(key, '0', '-1', 'WITHSCORES'),
    stream: () => client.xrange(key, '-', '+'),
  }
  // It has expired since its name was read.
  if (type === 'none') return Buffer.alloc(0)
  const value = await read[type]?.()
  if (value === undefined) throw new Error(`what is a ${type}?`)
  return Buffer.from(JSON.stringify(value))
}

/** A secret in every form in which it could lie about; of a key or token also the random part alone. */
function formsOf(secret: string): readonly Buffer[] {
  const bare = /_([0-9A-Za-z_-]{43})(?:_[0-9A-Za-z]{6})?$/.exec(secret)?.[1]
  return [secret, bare ?? secret].flatMap((text) => {
    const bytes = Buffer.from(text)
    const encoded = [
      bytes.toString('base64').replace(/=+$/, ''),
      bytes.toString('base64url'),
      bytes.toString('hex'),
    ]
    return [text, ...encoded, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)].map((form) =>
      Buffer.from(form),
    )
  })
}

for (const driver of storeDrivers) {
  t.test(`a stolen store yields nothing without the sealing key, on ${driver}`, async (t) => {
    const gateway = await startGateway(t, { driver })
    const secrets: Record<string, string> = { password }
    const admin = await gateway.createAccount({ role: 'Admin' })
    const { id, email } = admin.account
    const { current: key } = readSealingKeys(
      { kind: 'file', file: join(dirname(gateway.configFile), 'sealing.key') },
      { mayCreate: false },
    )

    // All that makes a secret, and all that keeps something of one.
    await gateway.operate(async ({ config, store, setupLinks, accounts, defaultKeys, signingKeys }) => {
      const clock = Date.now
      const limiter = openRateLimiter({
        store,
        storeConnection: { isUp: true },
        monotonic: clock,
        onStoreFailure: () => {},
      })
      t.teardown(() => limiter.close())
      const mails: string[] = []
      const mail = { host: '127.0.0.1', port: 1, security: 'none' as const, from: 'a@b.c', notices: false }
      const tls = { verify: true, ca: undefined }
      const withMail = { ...config, mail: { ...mail, tls, username: undefined, password: undefined } }
      const people = createAccountServices({
        config: withMail,
        store,
        sealingKeys: () => [key],
        limiter,
        outbox: { add: ({ run }) => void run().catch(() => {}), close: async () => {} },
        quotas: { readUsed: async () => 0 },
        clock,
      })
      const usedLink = await setupLinks.create(id)
      const signedIn = await people.signIn.redeemLink({ token: usedLink.token, password }, visitor)
      const openLink = await setupLinks.create(id)
      const second = await people.signIn.signIn({ email, password }, visitor)
      await people.signIn.signOut(second, visitor)
      await t.rejects(
        people.actionsOf({ kind: 'system', channel: 'system' }).profile.sendVerification(id, email),
        {
          code: 'mail-unavailable',
        },
      )
      t.strictSame(mails, [])
      await defaultKeys.reveal(id, 'secretKey')
      await defaultKeys.resetSecretKey(id, 3_600)
      const secretKey = await defaultKeys.reveal(id, 'secretKey')
      const apiKey = await defaultKeys.resetApiKey(id)
      const privateKeys = (await signingKeys.load()).map(({ material }) => material.privateKey)
      Object.assign(secrets, {
        'used set-up link': usedLink.token,
        'open set-up link': openLink.token,
        'portal session': signedIn?.token,
        'ended portal session': second.token,
        'previous secret key': admin.secretKey,
        'secret key': secretKey ?? '',
        'previous API key': admin.apiKey,
        'API key': apiKey,
        'sealing key': key.toString('base64'),
      })
      for (const [index, privateKey] of privateKeys.entries()) {
        const { d = '' } = privateKey?.export({ format: 'jwk' }) ?? {}
        secrets[`signing key ${index}`] = Buffer.from(d, 'base64url').toString('latin1')
        secrets[`signing key ${index}, encoded`] = d
      }
      t.ok((await accounts.get(id)).portal.emailLink, 'a verification is kept')
    })
    const tokens = await gateway.tokens({
      ...admin,
      secretKey: secrets['secret key'] ?? '',
      apiKey: secrets['API key'] ?? '',
    })
    secrets['access token'] = tokens.JwtToken
    secrets['refresh token'] = tokens.RefreshToken
    await gateway.shutDown()

    t.test('a stolen store holds no secret in any encoding', async (t) => {
      const bytes = await dump(gateway)
      t.ok(bytes.includes(email) && bytes.includes(id), 'it is the store that was looked through')
      t.ok(bytes.includes('$argon2id$'))
      for (const [name, secret] of Object.entries(secrets)) {
        t.ok(secret.length >= 20, `${name} was made`)
        for (const form of formsOf(secret)) t.notOk(bytes.includes(form), name)
      }
      const raw = Buffer.from(secrets['signing key 0'] ?? '', 'latin1')
      t.equal(raw.length, 32)
      for (const form of [raw, raw.toString('hex'), raw.toString('base64')]) t.notOk(bytes.includes(form))
      t.notOk(bytes.includes(key), 'nor the sealing key')
      t.notOk(bytes.includes('PRIVATE KEY'))
    })

    t.test('sealed data of a stolen store opens with its sealing key only', async (t) => {
      await gateway.operate(async ({ store, accounts, defaultKeys, passwords }) => {
        const account = await accounts.get(id)
        t.equal(defaultKeys.unseal(account, 'secretKey'), secrets['secret key'])
        t.equal(
          await passwords.verify(password, account.portal.password, {
            client: 'test',
            network: 'test',
            isKnown: false,
          }),
          true,
        )
        const thief = createPasswords({ pepper: deriveKey(Buffer.alloc(32, 9), 'password') })
        t.equal(
          await thief.verify(password, account.portal.password, {
            client: 'test',
            network: 'test',
            isKnown: false,
          }),
          false,
        )
        t.ok((await listAudit(store, { before: undefined, limit: 1 })).length > 0)
      })
    })
  })
}
