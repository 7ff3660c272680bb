import type { Test } from 'tap'
import { identitiesMax, noPortalAccess } from '#store/portal-access.ts'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { newDigest, startPortalSession } from '../portal-samples.ts'
import { createAccount, newKey, newSecretKey, now, plain, startSession, useOf } from '../samples.ts'

const issuer = 'https://id.example.com/tenant'
const ada = { issuer, subject: 'ada ☃ "{}"' }

/** Accounts that are linked with people at an OpenID provider. */
export function portalIdentityCases(t: Test, newPlace: NewPlace): void {
  runCase(t, newPlace, 'a linked account is found by the person, and verified', async (t, place, store) => {
    const account = await createAccount(store, { isVerified: false })
    const link = { identity: ada, email: account.email.toUpperCase() }
    t.equal(await store.findAccountByIdentity(ada), undefined)
    t.equal(await store.linkIdentity(account.id, link), 'linked')
    const linked = {
      ...account,
      isVerified: true,
      revision: 2,
      portal: { ...account.portal, identities: [ada] },
    }
    t.strictSame(plain(await (await place.open()).findAccountByIdentity(ada)), plain(linked))
    t.equal(await store.findAccountByIdentity({ ...ada, subject: 'ada' }), undefined)
    t.equal(await store.findAccountByIdentity({ ...ada, issuer: 'https://id.example.com' }), undefined)
    await store.updateAccount(account.id, { email: `new-${account.email}` })
    t.match(await store.findAccountByIdentity(ada), { id: account.id }, 'whatever its e-mail becomes')
    t.equal(await store.linkIdentity('nobody', link), 'unknown')
  })

  runCase(
    t,
    newPlace,
    'a person has one account, and an account one person of an issuer',
    async (t, place, store) => {
      const [one, other] = [await createAccount(store), await createAccount(store)]
      const bob = { issuer, subject: 'bob' }
      t.equal(await store.linkIdentity(one.id, { identity: ada, email: 'old@example.com' }), 'refused')
      t.equal(await store.linkIdentity(one.id, { identity: ada, email: one.email }), 'linked')
      t.equal(await store.linkIdentity(other.id, { identity: ada, email: other.email }), 'refused')
      t.equal(await store.linkIdentity(one.id, { identity: bob, email: one.email }), 'refused')
      t.match(await store.findAccountByIdentity(ada), { id: one.id })
      t.equal(await store.findAccountByIdentity(bob), undefined)
      const elsewhere = { issuer: 'https://other.example.com', subject: 'ada' }
      t.equal(await store.linkIdentity(one.id, { identity: elsewhere, email: one.email }), 'linked')
      t.match(
        await store.findAccountByIdentity(elsewhere),
        { id: one.id },
        'an account has one at each issuer',
      )
      t.match(await store.findAccountByIdentity(ada), { id: one.id })
      t.equal(await store.linkIdentity(other.id, { identity: ada, email: other.email }), 'refused')
      t.equal(await store.linkIdentity(one.id, { identity: ada, email: one.email }), 'linked', 'again')
      t.strictSame(
        (await store.findAccount(one.id))?.portal.identities,
        [elsewhere, ada],
        'the latest is last',
      )

      const [three, four] = [await createAccount(store), await createAccount(store)]
      const stores = await openMany(place, 2)
      const outcomes = await Promise.all(
        [three, four].map(({ id, email }, index) =>
          stores[index]?.linkIdentity(id, { identity: bob, email }),
        ),
      )
      t.strictSame(outcomes.toSorted(), ['linked', 'refused'], 'also where both come at once')
    },
  )

  runCase(
    t,
    newPlace,
    'an account that is unlinked or deleted frees the person',
    async (t, _place, store) => {
      const [one, other] = [await createAccount(store), await createAccount(store)]
      await store.linkIdentity(one.id, { identity: ada, email: one.email })
      const { revision = 0 } = (await store.findAccount(one.id)) ?? {}
      await startPortalSession(store, { id: one.id, revision })
      t.equal((await store.listPortalSessions(one.id, now)).length, 1)
      t.equal(await store.unlinkIdentities(one.id), true)
      t.strictSame(await store.listPortalSessions(one.id, now), [], 'its portal sessions have ended')
      t.equal(await store.unlinkIdentities(one.id), false)
      t.equal(await store.findAccountByIdentity(ada), undefined)
      t.equal(await store.linkIdentity(other.id, { identity: ada, email: other.email }), 'linked')
      await store.deleteAccount(other.id)
      t.equal(await store.findAccountByIdentity(ada), undefined)
      const again = { identity: ada, email: one.email }
      t.equal(
        await store.linkIdentity(one.id, again),
        'refused',
        'who had the account before may know its keys',
      )
      t.equal(await store.linkIdentity(one.id, { ...again, proof: { kind: 'session' } }), 'linked')
    },
  )

  runCase(t, newPlace, 'of ten issuers and one the oldest link ends', async (t, _place, store) => {
    const { id, email } = await createAccount(store)
    const identityAt = (index: number) => ({ issuer: `https://${index}.example.com`, subject: 'ada' })
    for (let index = 0; index <= identitiesMax; index++) {
      t.match(
        await store.findAccountByIdentity(identityAt(0)),
        index === 0 ? undefined : { id },
        String(index),
      )
      t.equal(await store.linkIdentity(id, { identity: identityAt(index), email }), 'linked')
    }
    t.equal((await store.findAccount(id))?.portal.identities.length, identitiesMax)
    t.equal(await store.findAccountByIdentity(identityAt(0)), undefined)
    t.match(await store.findAccountByIdentity(identityAt(1)), { id })
    await store.deleteAccount(id)
    for (let index = 0; index <= identitiesMax; index++)
      t.equal(await store.findAccountByIdentity(identityAt(index)), undefined, `deleted: ${index}`)
  })

  runCase(
    t,
    newPlace,
    'an account that was used needs a proof for its first link',
    async (t, _place, store) => {
      const set = { password: 'hash', proof: undefined, endsSessions: true }
      const account = await createAccount(store, { isVerified: true })
      const { id, email } = account
      const link = { identity: ada, email }
      await store.setPassword(id, set)
      t.equal(await store.linkIdentity(id, link), 'refused')
      t.equal(await store.linkIdentity(id, { ...link, proof: { kind: 'session' } }), 'linked')
      const after = await store.findAccount(id)
      t.equal(after?.portal.password, 'hash')
      t.strictSame(plain(after?.apiKey), plain(account.apiKey), 'all stays')
    },
  )

  runCase(
    t,
    newPlace,
    'whoever takes an account over shares nothing with who had it',
    async (t, _place, store) => {
      const imported = { ...newSecretKey({ name: 'old' }), isImported: true } as const
      const account = await createAccount(store, { isVerified: false, role: 'Admin' })
      const { id, email } = account
      await store.importSecretKeys([{ accountId: id, secretKey: imported, keysMax: 9 }])
      const link = { digest: newDigest(), expiresAt: now + 1e6 }
      await store.setPassword(id, { password: 'hash', proof: undefined, endsSessions: true })
      await store.setSetupLink(id, link)
      await store.setResetLink(id, link)
      await store.setEmailLink(id, { ...link, email: 'elsewhere@example.com' })
      const factor = { sealed: 'c2VhbGVk', enabledAt: now, lastStep: 1, recoveryDigests: [] }
      await store.enableSecondFactor(id, factor)
      const before = (await store.findAccount(id)) ?? account
      const session = await startSession(store, before)
      await startPortalSession(store, before)
      const proof = { kind: 'take-over', secretKey: newSecretKey(), apiKey: newKey() } as const
      t.equal(await store.linkIdentity(id, { identity: ada, email: 'other@example.com', proof }), 'refused')
      t.equal(await store.linkIdentity(id, { identity: ada, email, proof }), 'linked')
      const after = await store.findAccount(id)
      t.strictSame(plain(after?.secretKeys), plain([proof.secretKey]))
      t.strictSame(plain(after?.apiKey), plain(proof.apiKey))
      t.match(after, { email, role: 'Admin', isVerified: true, sessionEpoch: before.sessionEpoch + 1 })
      t.strictSame(after?.portal, { ...noPortalAccess, identities: [ada], epoch: before.portal.epoch + 1 })
      t.strictSame(await store.listPortalSessions(id, now), [])
      t.equal((await store.rotateSession(useOf(session))).kind, 'over')
      t.equal(await store.findImportedKey(imported.digest), undefined)
      const another = { identity: { issuer, subject: 'bob' }, email, proof }
      t.equal(await store.linkIdentity(id, another), 'refused', 'nobody takes over a linked account')
    },
  )

  runCase(t, newPlace, 'a first link ends links for passwords and e-mails', async (t, _place, store) => {
    const { id, email } = await createAccount(store)
    const link = { digest: newDigest(), expiresAt: now + 1e6 }
    await store.setSetupLink(id, link)
    t.equal(await store.linkIdentity(id, { identity: ada, email }), 'linked')
    const proof = { kind: 'setup-link', digest: link.digest, now } as const
    t.equal(await store.setPassword(id, { password: 'hash', proof, endsSessions: true }), 'refused')
  })
}
