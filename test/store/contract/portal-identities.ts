import type { Test } from 'tap'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { startPortalSession } from '../portal-samples.ts'
import { createAccount, now, plain } from '../samples.ts'

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
      portal: { ...account.portal, identity: ada },
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
      t.equal(await store.findAccountByIdentity(ada), undefined, 'the link with the other issuer is replaced')
      t.equal(await store.linkIdentity(other.id, { identity: ada, email: other.email }), 'linked')

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
      t.equal(await store.unlinkIdentity(one.id), true)
      t.strictSame(await store.listPortalSessions(one.id, now), [], 'its portal sessions have ended')
      t.equal(await store.unlinkIdentity(one.id), false)
      t.equal(await store.findAccountByIdentity(ada), undefined)
      t.equal(await store.linkIdentity(other.id, { identity: ada, email: other.email }), 'linked')
      await store.deleteAccount(other.id)
      t.equal(await store.findAccountByIdentity(ada), undefined)
      t.equal(await store.linkIdentity(one.id, { identity: ada, email: one.email }), 'linked')
    },
  )
}
