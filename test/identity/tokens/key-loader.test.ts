import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { Writable } from 'node:stream'
import t, { type Test } from 'tap'
import { createKeyLoader } from '#identity/tokens/key-loader.ts'
import { createKeyring } from '#identity/tokens/keyring.ts'
import { createSigningKeys, type SigningKeys } from '#identity/tokens/signing-keys.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createLog } from '#platform/log/log.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import type { SigningKeyStore } from '#store/signing-keys.ts'
import { openSqliteStore } from '#store/sqlite/store.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'

const clock = () => 1_700_000_000_000

function keysOf(store: SigningKeyStore): SigningKeys {
  return createSigningKeys({ store, sealer: createSealer(randomBytes(32)), algorithm: 'ES256', clock })
}

/** A loader, keys that it can read, and keys on the same store that it cannot. */
async function openLoader(t: Test) {
  const { path } = await newSqlitePlace(t)
  const store = openSqliteStore({ path, busyTimeoutMs: 20 })
  t.teardown(() => store.close())
  const lines: string[] = []
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push((JSON.parse(String(chunk)) as { readonly msg: string }).msg)
      done()
    },
  })
  const keyring = createKeyring('ES256')
  const own = keysOf(store)
  const replaced = { count: 0 }
  const outage = { isOn: false }
  const loader = createKeyLoader({
    keyring,
    signingKeys: {
      read: async () => {
        if (outage.isOn) throw new GatehouseError('store-unavailable')
        return own.read()
      },
    },
    algorithm: 'ES256',
    configured: [],
    clock,
    log: createLog({ level: 'info', stream }),
    onReplaced: () => replaced.count++,
  })
  return { path, store, loader, keyring, own, strange: keysOf(store), lines, replaced, outage }
}

t.test('a start without a readable signing key fails and adds none', async (t) => {
  const { store, loader, keyring, strange } = await openLoader(t)
  await strange.load()
  await t.rejects(loader.load(), { name: 'OperatorError', message: /cannot be unsealed/ })
  t.notOk(keyring.isLoaded())
  t.equal((await store.listSigningKeys()).length, 1)
})

t.test('an unreadable signing key is logged once, and retried after a change', async (t) => {
  const { store, loader, keyring, strange, lines } = await openLoader(t)
  const [key] = await strange.load()
  for (let reading = 0; reading < 20; reading++) {
    loader.catchUp()
    await loader.settled()
  }
  for (let change = 0; change < 3; change++) {
    loader.reload()
    await loader.settled()
  }
  t.strictSame(lines, ['failed to load signing keys'])
  t.notOk(keyring.isLoaded())
  await store.retireSigningKey(key?.kid ?? '')
  loader.catchUp()
  await loader.settled()
  t.notOk(keyring.isLoaded(), 'nobody has said that anything changed')
  loader.reload()
  await loader.settled()
  t.ok(keyring.isLoaded())
})

t.test('an unreadable signing key is skipped, and reported once', async (t) => {
  const { loader, keyring, own, strange, lines } = await openLoader(t)
  await loader.load()
  const [first] = await own.load()
  const other = await strange.rotate('now')
  const next = await own.rotate('now')
  await own.retire(first?.kid ?? '')
  for (let change = 0; change < 5; change++) loader.reload()
  await loader.settled()
  t.equal(keyring.find(first?.kid ?? ''), undefined, 'one that was retired is gone')
  t.equal(keyring.find(other.kid), undefined)
  t.equal(keyring.signer(clock()).kid, next.kid)
  t.equal(lines.length, 1)
  t.match(lines[0], /cannot be decrypted.*its tokens are rejected/)
})

t.test('a retired key ends even where no other can sign', async (t) => {
  const { store, loader, keyring, own, strange, lines, replaced } = await openLoader(t)
  await loader.load()
  const [key] = await own.load()
  await strange.rotate('now')
  await store.retireSigningKey(key?.kid ?? '')
  const before = replaced.count
  loader.reload()
  await loader.settled()
  t.equal(keyring.find(key?.kid ?? ''), undefined)
  t.throws(() => keyring.signer(clock()), { code: 'store-unavailable' })
  t.equal(replaced.count, before + 1, 'other instances are notified')
  t.strictSame(lines, ['failed to load signing keys'])
})

t.test('a reload of keys in an outage is deferred until the store is back', async (t) => {
  const { path, loader, keyring, lines } = await openLoader(t)
  const other = new DatabaseSync(path)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  loader.reload()
  await t.rejects(loader.settled(), { code: 'store-unavailable' })
  loader.catchUp()
  await t.rejects(loader.settled(), { code: 'store-unavailable' })
  t.strictSame(lines, ['failed to load signing keys'])
  other.exec('ROLLBACK')
  loader.catchUp()
  await loader.settled()
  t.ok(keyring.isLoaded())
})

t.test('keys that changed just before an outage are not used until they are read', async (t) => {
  const { loader, keyring, own, replaced, outage } = await openLoader(t)
  await loader.load()
  const [key] = await own.load()
  const kid = key?.kid ?? ''
  t.equal(keyring.find(kid)?.kid, kid)
  const before = replaced.count
  outage.isOn = true
  loader.reload()
  await t.rejects(loader.settled(), { code: 'store-unavailable' })
  t.notOk(keyring.isLoaded())
  t.throws(() => keyring.find(kid), { code: 'store-unavailable' })
  t.equal(replaced.count, before + 1, 'what was decided with them counts no more')
  loader.catchUp()
  await t.rejects(loader.settled(), { code: 'store-unavailable' })
  t.equal(replaced.count, before + 1, 'only once')
  outage.isOn = false
  loader.catchUp()
  await loader.settled()
  t.equal(keyring.find(kid)?.kid, kid)
})
