import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { migrations } from '#store/sqlite/schema.ts'
import { openSqliteStore } from '#store/sqlite/store.ts'
import { listAudit } from '../portal-samples.ts'
import { createAccount } from '../samples.ts'
import { withoutSecretKeyList } from './earlier-schema.ts'
import { newSqlitePlace } from './place.ts'

t.test('a database of the first version goes on, with its accounts and sessions', async (t) => {
  const { path, open } = await newSqlitePlace(t)
  const old = new DatabaseSync(path)
  migrations[0]?.(old)
  old.exec('PRAGMA user_version = 1')
  const account = old.prepare(
    `INSERT INTO accounts (id, email, email_key, first_name, last_name, role, is_verified, is_disabled, created_at,
       revision, session_epoch, secret_digest, secret_created_at, previous_digest, previous_until, api_digest,
       api_created_at)
     VALUES (?, ?, ?, ?, ?, 'User', 1, 0, 1, 3, 1, x'01', 1, x'03', 8, x'02', 1)`,
  )
  account.run('a', 'Ada@Example.com', 'ada@example.com', 'Ada', 'Lovelace')
  old.exec(
    `INSERT INTO sessions (id, account_id, created_at, expires_at, lives_until, generation, rotated_at, session_epoch)
     VALUES ('s', 'a', 1, 9, 9, 1, 1, 1)`,
  )
  old.close()

  const store = await open()
  t.match(await store.findAccount('a'), {
    revision: 3,
    roleEpoch: 1,
    portal: { epoch: 1, password: undefined },
    plan: undefined,
    secretKeys: [
      { id: '', name: 'default', createdAt: 0, revokedAt: 8 },
      { id: '', name: 'default', createdAt: 1, revokedAt: undefined, sealed: undefined, scopes: [] },
    ],
  })
  const found = await store.searchAccounts({ words: ['love'], after: undefined, limit: 1 })
  t.strictSame(
    found.accounts.map(({ id }) => id),
    ['a'],
  )
  t.match(
    await store.listSessions('a', { now: 5, limit: 1_000 }),
    [{ id: 's', keyId: '', acknowledgedAt: 1, address: '', userAgent: '' }],
    'the token before the current one does not come to life again',
  )
  t.strictSame(await listAudit(store, { before: undefined, limit: 1 }), [])
  t.equal(await store.setSetupLink('a', { digest: 'd', expiresAt: 9 }), true)
  await (await open()).close()
})

t.test('accounts of before are found by the parts of their e-mails too', async (t) => {
  const { path, open } = await newSqlitePlace(t)
  const before = await open()
  const { id } = await createAccount(before, {
    email: 'ada.lovelace@example.com',
    firstName: '',
    lastName: '',
  })
  await before.close()
  const old = new DatabaseSync(path)
  old.exec(
    `DELETE FROM account_terms WHERE term <> 'ada.lovelace@example.com'; DROP INDEX sessions_open; DROP INDEX audit_by_class;
     ALTER TABLE audit DROP COLUMN class; ALTER TABLE audit DROP COLUMN link; DROP TABLE audit_chains;
     ALTER TABLE accounts DROP COLUMN role_epoch; DROP TABLE store; DROP TABLE usage; DROP TABLE usage_batches;
     ALTER TABLE sessions DROP COLUMN acknowledged_at; ${withoutSecretKeyList}; DROP INDEX accounts_by_age; PRAGMA user_version = 2`,
  )
  old.close()
  const store = await open()
  for (const word of ['lovelace', 'example.com', 'ada']) {
    const found = await store.searchAccounts({ words: [word], after: undefined, limit: 2 })
    t.strictSame(
      found.accounts.map((account) => account.id),
      [id],
      word,
    )
  }
})

t.test('a database of a later version is left alone', async (t) => {
  const { path, open } = await newSqlitePlace(t)
  await (await open()).close()
  const later = new DatabaseSync(path)
  later.exec(`PRAGMA user_version = ${migrations.length + 1}`)
  later.close()
  t.throws(() => openSqliteStore({ path, busyTimeoutMs: 100 }), { message: /newer version/ })
})

t.test('a link with an OpenID provider goes on, as the first of several', async (t) => {
  const { path, open } = await newSqlitePlace(t)
  const before = await open()
  const { id, email } = await createAccount(before)
  const ada = { issuer: 'https://id.example.com', subject: 'ada' }
  await before.linkIdentity(id, { identity: ada, email })
  await before.close()
  const old = new DatabaseSync(path)
  const version = Number(old.prepare('PRAGMA user_version').get()?.user_version)
  const portal = JSON.stringify({ epoch: 1, networks: [], identity: ada })
  old.exec(`
    ALTER TABLE accounts DROP COLUMN managed_by;
    DROP TABLE account_identities;
    ALTER TABLE accounts ADD COLUMN identity_key TEXT;
    CREATE UNIQUE INDEX accounts_by_identity ON accounts (identity_key) WHERE identity_key IS NOT NULL;
    PRAGMA user_version = ${version - 2}`)
  old.prepare('UPDATE accounts SET portal = ?, identity_key = ?').run(portal, `${ada.issuer} ${ada.subject}`)
  old.close()
  const store = await open()
  t.match(await store.findAccountByIdentity(ada), { id, portal: { identities: [ada] } })
  const other = { issuer: 'https://other.example.com', subject: 'a' }
  t.equal(await store.linkIdentity(id, { identity: other, email }), 'linked')
  t.strictSame((await store.findAccount(id))?.portal.identities, [ada, other])
  t.equal(await store.unlinkIdentities(id), true)
  t.equal(await store.findAccountByIdentity(ada), undefined)
})
