import type { Test } from 'tap'
import type { PasswordChange } from '#store/portal.ts'
import type { EmailLink } from '#store/portal-access.ts'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { newDigest, newPasskey, startPortalSession } from '../portal-samples.ts'
import { createAccount, newSecretKey, now, plain, second } from '../samples.ts'

const link = () => ({ digest: newDigest(), expiresAt: now + second })

function byLink(digest: string, changes: Partial<PasswordChange> & { now?: number } = {}): PasswordChange {
  const { now: at = now, ...change } = changes
  const proof = { kind: 'setup-link', digest, now: at } as const
  return { password: '$argon2id$new', proof, endsSessions: true, ...change }
}

/** How passwords are set, and the links that permit it. */
export function portalPasswordCases(t: Test, newPlace: NewPlace): void {
  runCase(t, newPlace, 'a set-up link sets a password once', async (t, _place, store) => {
    const { id } = await createAccount(store)
    const { digest, expiresAt } = link()
    t.equal(await store.setSetupLink(id, { digest, expiresAt }), true)
    t.equal(await store.setPassword(id, byLink(newDigest())), 'refused')
    t.equal(await store.setPassword(id, byLink(digest)), 'set')
    t.match((await store.findAccount(id))?.portal, { password: '$argon2id$new', setupLink: undefined })
    t.equal(await store.setPassword(id, byLink(digest, { password: 'again' })), 'refused')
    t.equal((await store.findAccount(id))?.portal.password, '$argon2id$new')
  })

  runCase(t, newPlace, 'a set-up link works until it expires', async (t, _place, store) => {
    const { id } = await createAccount(store)
    const { digest, expiresAt } = link()
    await store.setSetupLink(id, { digest, expiresAt })
    t.equal(await store.setPassword(id, byLink(digest, { now: expiresAt })), 'refused')
    t.equal(await store.setPassword(id, byLink(digest, { now: expiresAt - 1 })), 'set')
  })

  runCase(
    t,
    newPlace,
    'of many that use one set-up link at once exactly one succeeds',
    async (t, place, store) => {
      const { id } = await createAccount(store)
      const { digest, expiresAt } = link()
      await store.setSetupLink(id, { digest, expiresAt })
      const stores = await openMany(place, 4)
      const outcomes = await Promise.all(
        Array.from({ length: 16 }, (_, index) =>
          stores[index % 4]?.setPassword(id, byLink(digest, { password: `p${index}` })),
        ),
      )
      const winner = outcomes.indexOf('set')
      t.equal(outcomes.filter((outcome) => outcome === 'set').length, 1)
      t.equal((await store.findAccount(id))?.portal.password, `p${winner}`)
    },
  )

  runCase(t, newPlace, 'a later set-up link replaces the earlier one', async (t, _place, store) => {
    const { id } = await createAccount(store)
    const first = link()
    const second = link()
    await store.setSetupLink(id, first)
    await store.setSetupLink(id, second)
    t.equal(await store.setPassword(id, byLink(first.digest)), 'refused')
    t.equal(await store.setPassword(id, byLink(second.digest)), 'set')
  })

  runCase(
    t,
    newPlace,
    'a reset link is beside the set-up link, and each ends the other once it is used',
    async (t, _place, store) => {
      const { id } = await createAccount(store)
      const byReset = (digest: string) => ({
        ...byLink(digest),
        proof: { kind: 'reset-link', digest, now } as const,
      })
      const [setup, reset] = [link(), link()]
      t.equal(await store.setSetupLink(id, setup), true)
      t.equal(await store.setResetLink(id, reset), true)
      t.equal(await store.setPassword(id, byReset(setup.digest)), 'refused', 'of the other kind')
      t.equal(await store.setPassword(id, byLink(reset.digest)), 'refused')
      t.equal(await store.setPassword(id, byReset(reset.digest)), 'set')
      t.match((await store.findAccount(id))?.portal, { setupLink: undefined, resetLink: undefined })
      t.equal(await store.setPassword(id, byReset(reset.digest)), 'refused', 'used')
      t.equal(await store.setPassword(id, byLink(setup.digest)), 'refused')
      await store.setResetLink(id, reset)
      await store.updateAccount(id, { isDisabled: true })
      t.equal(await store.setPassword(id, byReset(reset.digest)), 'refused', 'disabled meanwhile')
      t.equal(await store.setResetLink('nobody', link()), false)
    },
  )

  runCase(
    t,
    newPlace,
    'a link that was mailed works only while the account has that e-mail',
    async (t, _place, store) => {
      const { id, email } = await createAccount(store)
      const mailed = { ...link(), sentTo: email.toUpperCase() }
      await store.setSetupLink(id, mailed)
      await store.updateAccount(id, { email: 'moved@example.com' })
      t.equal(await store.setPassword(id, byLink(mailed.digest)), 'refused')
      await store.updateAccount(id, { email })
      t.equal(await store.setPassword(id, byLink(mailed.digest)), 'set')
    },
  )

  runCase(
    t,
    newPlace,
    'the networks of sign-ins are remembered, the last twenty',
    async (t, place, store) => {
      const { id } = await createAccount(store)
      const note = (network: string) => store.noteSignInNetwork(id, network)
      t.equal(await note('n0'), 'first')
      t.equal(await note('n0'), 'known')
      for (let count = 1; count < 20; count++) t.equal(await note(`n${count}`), 'new')
      t.equal(await note('n0'), 'known', 'at the limit')
      t.equal(await note('n20'), 'new')
      t.equal(await (await place.open()).noteSignInNetwork(id, 'n0'), 'new', 'after so many others')
      t.equal((await store.findAccount(id))?.portal.networks.length, 20)
      t.equal(await store.noteSignInNetwork('nobody', 'n0'), 'known')
    },
  )

  runCase(
    t,
    newPlace,
    'a password is changed only if it is still the one that was checked',
    async (t, _place, store) => {
      const { id } = await createAccount(store)
      const any = { proof: undefined, endsSessions: true }
      t.equal(await store.setPassword(id, { password: 'one', ...any }), 'set')
      const wrong = { kind: 'password', password: 'other' } as const
      const right = { kind: 'password', password: 'one' } as const
      t.equal(await store.setPassword(id, { password: 'two', proof: wrong, endsSessions: true }), 'refused')
      t.equal(await store.setPassword(id, { password: 'two', proof: right, endsSessions: true }), 'set')
      t.equal((await store.findAccount(id))?.portal.password, 'two')
      t.equal(await store.setPassword('nobody', { password: 'x', ...any }), 'unknown')
      t.equal(await store.setSetupLink('nobody', link()), false)
    },
  )

  runCase(t, newPlace, 'a new password ends all sessions, a re-hashed one none', async (t, _place, store) => {
    const account = await createAccount(store)
    await startPortalSession(store, account)
    await store.setPassword(account.id, { password: 'x', proof: undefined, endsSessions: false })
    t.equal((await store.listPortalSessions(account.id, now)).length, 1)
    await store.setSetupLink(account.id, link())
    await store.setPassword(account.id, { password: 'y', proof: undefined, endsSessions: true })
    t.strictSame(await store.listPortalSessions(account.id, now), [])
    t.equal((await store.findAccount(account.id))?.portal.setupLink, undefined)
  })

  runCase(t, newPlace, 'an e-mail verification sets the e-mail of the account', async (t, _place, store) => {
    const { id } = await createAccount(store, { email: 'old@example.com', isVerified: false })
    const emailLink: EmailLink = { ...link(), email: 'new@example.com' }
    await store.setEmailLink(id, emailLink)
    t.equal((await store.findAccount(id))?.email, 'old@example.com')
    t.equal(await store.redeemEmailLink(id, { digest: newDigest(), now }), 'refused')
    t.equal(await store.redeemEmailLink(id, { digest: emailLink.digest, now }), 'verified')
    t.match(await store.findAccountByEmail('new@example.com'), { id, isVerified: true })
    t.equal(await store.findAccountByEmail('old@example.com'), undefined)
    t.equal(await store.redeemEmailLink(id, { digest: emailLink.digest, now }), 'refused')
    t.equal(await store.redeemEmailLink('nobody', { digest: emailLink.digest, now }), 'unknown')
  })

  runCase(
    t,
    newPlace,
    'the language of an account is kept until none is chosen',
    async (t, _place, store) => {
      const { id } = await createAccount(store)
      t.equal(await store.setLanguage(id, 'de'), true)
      t.equal((await store.findAccount(id))?.portal.language, 'de')
      t.equal(await store.setLanguage(id, undefined), true)
      t.equal((await store.findAccount(id))?.portal.language, undefined)
      t.equal(await store.setLanguage('nobody', 'de'), false)
    },
  )

  runCase(
    t,
    newPlace,
    'an e-mail verification cannot take the e-mail of another account',
    async (t, _place, store) => {
      const { id } = await createAccount(store, { isVerified: false })
      const emailLink = { ...link(), email: 'Taken@example.com' }
      await store.setEmailLink(id, emailLink)
      await createAccount(store, { email: 'taken@example.com' })
      t.equal(await store.redeemEmailLink(id, { digest: emailLink.digest, now }), 'exists')
      t.equal((await store.findAccount(id))?.isVerified, false)
    },
  )

  runCase(t, newPlace, 'a changed e-mail ends its pending verification', async (t, _place, store) => {
    const { id } = await createAccount(store)
    const emailLink = { ...link(), email: 'late@example.com' }
    await store.setEmailLink(id, emailLink)
    await store.updateAccount(id, { email: 'other@example.com' })
    t.equal(await store.redeemEmailLink(id, { digest: emailLink.digest, now }), 'refused')
    t.equal((await store.findAccount(id))?.email, 'other@example.com')
  })

  runCase(
    t,
    newPlace,
    'sign-in attempts are counted before they are checked, even many at once',
    async (t, place, store) => {
      const { id } = await createAccount(store)
      const take = (client?: string) => store.countPasswordAttempt(id, client)
      for (let count = 0; count < 78; count++) await take()
      const kinds = (await Promise.all([1, 2, 3, 4].map(() => take()))).map(({ kind }) => kind)
      t.strictSame(kinds.toSorted(), ['counted', 'counted', 'refused', 'refused'], 'at the limit')
      t.strictSame(await take('known'), { kind: 'counted', inARow: 81 })
      const other = await place.open()
      t.equal((await other.countPasswordAttempt(id, undefined)).kind, 'refused', 'for every instance')
      await store.settlePasswordAttempt(id, 'not-wrong', 'known')
      t.match((await store.findAccount(id))?.portal.failures, { total: 80, ofClients: {} })
      await store.settlePasswordAttempt(id, 'known-client', 'known')
      t.equal((await store.findAccount(id))?.portal.failures, undefined)
      await store.settlePasswordAttempt(id, 'not-wrong', undefined)
      t.equal((await store.findAccount(id))?.portal.failures, undefined, 'nothing is left to take back')
      t.equal((await store.countPasswordAttempt('nobody', undefined)).kind, 'unknown')
    },
  )

  runCase(
    t,
    newPlace,
    'a new password resets the count of wrong ones, a re-hashed one does not',
    async (t, _place, store) => {
      const { id } = await createAccount(store)
      await store.countPasswordAttempt(id, undefined)
      await store.setPassword(id, { password: 'x', proof: undefined, endsSessions: false })
      t.equal((await store.findAccount(id))?.portal.failures?.total, 1)
      await store.setPassword(id, { password: 'y', proof: undefined, endsSessions: true })
      t.equal((await store.findAccount(id))?.portal.failures, undefined)
    },
  )

  runCase(
    t,
    newPlace,
    'with a second factor only an operator or an Admin ends the count with a new password',
    async (t, _place, store) => {
      const { id } = await createAccount(store)
      const failures = async () => (await store.findAccount(id))?.portal.failures?.total ?? 0
      const linked = async (kind: 'setup-link' | 'reset-link') => {
        const { digest, expiresAt } = link()
        await (kind === 'setup-link' ? store.setSetupLink : store.setResetLink)(id, { digest, expiresAt })
        return { kind, digest, now } as const
      }
      const proofs: Readonly<Record<string, () => Promise<PasswordChange['proof']>>> = {
        'a mailed link': () => linked('reset-link'),
        'the old password': async () => ({ kind: 'password', password: 'p' }),
        'a set-up link': () => linked('setup-link'),
        'a command': async () => undefined,
      }
      const ends = async () => {
        const ending: string[] = []
        for (const [name, proof] of Object.entries(proofs)) {
          await store.countPasswordAttempt(id, undefined)
          const change = { password: 'p', proof: await proof(), endsSessions: true }
          t.equal(await store.setPassword(id, change), 'set', name)
          if ((await failures()) === 0) ending.push(name)
        }
        return ending
      }
      await store.setPassword(id, { password: 'p', proof: undefined, endsSessions: true })
      t.strictSame(await ends(), Object.keys(proofs), 'without one')
      const recoveryDigests = ['a']
      await store.enableSecondFactor(id, { sealed: 's', enabledAt: now, lastStep: 1, recoveryDigests })
      t.strictSame(await ends(), ['a set-up link', 'a command'], 'with an app')
      await store.disableSecondFactor(id, 'all')
      const passkey = newPasskey()
      await store.addPasskey(id, { passkey, challengeAt: now, recoveryDigests, passkeysMax: 1 })
      t.strictSame(await ends(), ['a set-up link', 'a command'], 'with a passkey')
    },
  )

  runCase(
    t,
    newPlace,
    'a password that is set without the old one leaves no key to be shown, unless it is the first',
    async (t, _place, store) => {
      const sealedOf = async (id: string) => {
        const account = await store.findAccount(id)
        return [...(account?.secretKeys ?? []), account?.apiKey].filter((key) => key?.sealed).length
      }
      const further = newSecretKey({ name: 'ci' })
      const waysIn = {
        'a set-up link': async (id: string) => {
          const { digest, expiresAt } = link()
          await store.setSetupLink(id, { digest, expiresAt })
          return store.setPassword(id, byLink(digest))
        },
        'a link for a forgotten password': async (id: string) => {
          const { digest, expiresAt } = link()
          await store.setResetLink(id, { digest, expiresAt })
          const proof = { kind: 'reset-link', digest, now } as const
          return store.setPassword(id, { password: 'by mail', proof, endsSessions: true })
        },
        'a command': (id: string) =>
          store.setPassword(id, { password: 'typed', proof: undefined, endsSessions: true }),
      }
      for (const [name, setPassword] of Object.entries(waysIn)) {
        const used = await createAccount(store, { secretKeys: [newSecretKey(), further] })
        t.equal(await setPassword(used.id), 'set')
        t.equal(await sealedOf(used.id), 3, `${name}: the first password`)
        const password = (await store.findAccount(used.id))?.portal.password ?? ''
        const own = { kind: 'password', password } as const
        const changed = await store.setPassword(used.id, { password: 'own', proof: own, endsSessions: true })
        t.equal(changed, 'set')
        t.equal(await sealedOf(used.id), 3, 'who knows the old password may see the keys')
        t.equal(await setPassword(used.id), 'set')
        t.equal(await sealedOf(used.id), 0, `${name}: another password`)
        const { secretKeys = [], apiKey } = (await store.findAccount(used.id)) ?? {}
        t.strictSame(plain([...secretKeys, apiKey].map((key) => key?.digest)), [
          ...plainDigests(used.secretKeys),
          ...plainDigests([used.apiKey]),
        ])

        const linked = await createAccount(store)
        const identity = { issuer: 'https://id.example.com', subject: linked.id }
        await store.linkIdentity(linked.id, { identity, email: linked.email })
        t.equal(await setPassword(linked.id), 'set')
        t.equal(await sealedOf(linked.id), 0, `${name}: the first password of who signs in at a provider`)
      }
    },
  )
}

function plainDigests(keys: readonly { readonly digest: Uint8Array }[]): readonly unknown[] {
  return keys.map(({ digest }) => plain(digest))
}
